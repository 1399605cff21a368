// Mails that are written to cost much.
import { extract } from '../../../../services/link-digest/extraction/extraction.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

const link = '<a href="https://a.example/1">';
const html: Readonly<Record<string, (times: number) => string>> = {
  '200 000 unclosed tags': (times) => '<div>'.repeat(times * 25_000),
  'unclosed anchors': (times) => link.repeat(times * 2666),
  'nested anchors': (times) => `<div>${link}b`.repeat(times * 2333),
  'nested headings with anchors': (times) => `<div><h2>a${link}`.repeat(times * 2000),
  'end tags of nothing': (times) => `${'<b>'.repeat(times * 1666)}${'</i>'.repeat(times * 16_666)}`,
  cards: (times) => `<div>${link}<img></a><h2>Title</h2><p>by Jane Doe</p></div>`.repeat(times * 1000),
  slashes: (times) => `<a href="https://a.example/${'/'.repeat(times * 83_333)}x">a</a>`,
  spaces: (times) => `${link}a${' '.repeat(times * 83_333)}b`,
  attributes: (times) => `<a ${'a=b '.repeat(times * 20_000)}>`,
  entities: (times) => `<i class=&amp;>&amp;`.repeat(times * 5000),
  comments: (times) => '<!--'.repeat(times * 20_000),
};
const text: Readonly<Record<string, (times: number) => string>> = {
  'URLs on a line': (times) => 'https://a.example/1 '.repeat(times * 4000),
  'URLs on lines': (times) => 'https://a.example/1\n'.repeat(times * 4000),
  'closing brackets': (times) => `https://a.example/${')'.repeat(times * 83_333)}`,
  'opening brackets': (times) => `${'[ <'.repeat(times * 26_666)}https://a.example/`,
  notes: (times) => '[1] '.repeat(times * 20_000),
  'blank lines': (times) => `${'\n'.repeat(times * 83_333)}https://a.example/`,
};

describe('extract', function () {
  this.timeout(300_000);
  const mail = { subject: null, date: null, from: null, sender: null, to: null, html: null, text: null, unsubscribe: [] };
  for (const [kind, table] of [
    ['html', html],
    ['text', text],
  ] as const) {
    for (const [name, make] of Object.entries(table)) {
      it(`takes linear time for ${name}`, () => expectLinearTime((times) => extract({ ...mail, [kind]: make(times) })));
    }
  }
});
