// `signalbox digest evaluate` over the corpus of newsletters: the extraction against what people labelled.
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { evaluateExtraction } from '../../../../services/link-digest/commands/evaluate.ts';
import { temporaryDirectory } from '../../../support/guard.ts';

const corpus = join(import.meta.dirname, '../corpus');
const later = join(import.meta.dirname, '../corpus-later');

async function run(...rest: readonly string[]) {
  let [out, err] = ['', ''];
  const code = await evaluateExtraction.run({
    environment: {},
    options: {},
    rest,
    print: (text) => (out += text),
    writeError: (text) => (err += `${text}\n`),
    stopping: new AbortController().signal,
  });
  return { code, out, err };
}
const measured = (out: string, kind: string) => new RegExp(`^${kind}: precision (\\d\\.\\d+), recall (\\d\\.\\d+)`, 'm').exec(out)?.slice(1).map(Number) ?? [];

describe('signalbox digest evaluate', () => {
  const folder = temporaryDirectory('evaluate');

  for (const kind of ['links', 'titles', 'authors']) {
    it(`finds the ${kind} of at least 25 newsletters with a precision and a recall of at least 0.95 each`, async () => {
      const { out } = await run(corpus);
      expect(Number(/^(\d+) mails in /m.exec(out)?.[1])).to.be.at.least(25);
      const [precision, recall] = measured(out, kind);
      expect(precision).to.be.at.least(0.95);
      expect(recall).to.be.at.least(0.95);
    });
  }

  it('prints each folder by itself: the newsletters that the rules were made with, and those of other shapes that came later', async () => {
    const { out } = await run(corpus, later);
    const [, second = ''] = out.split(`14 mails in ${later}\n`);
    expect(out).to.match(/^\d+ mails in .*corpus\n/);
    for (const kind of ['links', 'titles', 'authors']) {
      for (const share of measured(second, kind)) expect(share, kind).to.be.at.least(0.95);
      expect(measured(second, kind)).to.have.length(2);
    }
  });

  it('tells what is missing, what is too much, and counts both', async () => {
    writeFileSync(join(folder, 'one.eml'), 'Content-Type: text/html\r\n\r\n<a href="https://a.example/1">One</a><a href="https://a.example/2">Two</a>');
    writeFileSync(
      join(folder, 'one.yaml'),
      '[{ url: https://a.example/1, title: Uno }, { url: https://a.example/3, title: Three, authors: [{ name: J, handle: j }] }]',
    );
    const { code, out, err } = await run(folder);
    expect({ code, out: out.split('\n') }).to.deep.equal({
      code: 0,
      out: [
        `1 mails in ${folder}`,
        'links: precision 0.500, recall 0.500 (2 labelled, 2 found, 1 right)',
        'titles: precision 0.000, recall 0.000 (2 labelled, 2 found, 0 right)',
        'authors: precision 1.000, recall 0.000 (1 labelled, 0 found, 0 right)',
        '',
      ],
    });
    expect(err).to.include('one.eml: missing in links: https://a.example/3\n').and.to.include('one.eml: too much in links: https://a.example/2\n');
  });

  const rejected = async (...rest: readonly string[]) => run(...rest).then(() => 'nothing', String);

  it('says which labels cannot be used', async () => {
    copyFileSync(join(corpus, 'broken-html.eml'), join(folder, 'two.eml'));
    expect(await rejected(folder)).to.include(join(folder, 'two.yaml'));
    writeFileSync(join(folder, 'two.yaml'), '[{ link: x }]');
    expect(await rejected(folder)).to.include(join(folder, 'two.yaml'));
  });

  it('says that there is no folder, or that it has no mails', async () => {
    expect(await rejected()).to.include('no folder');
    expect(await rejected(import.meta.dirname)).to.include('no mails');
  });
});
