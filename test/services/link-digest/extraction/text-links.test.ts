// URLs of a mail without anchors, each with its title and byline.
import { expect } from 'chai';
import { extract, type ParsedMail } from '../../../../services/link-digest/extraction/extraction.ts';

type Parts = Partial<Pick<ParsedMail, 'html' | 'text'>>;
const mail = ({ html = null, text = null }: Parts): ParsedMail => ({
  subject: null,
  date: null,
  from: null,
  sender: null,
  to: null,
  html,
  text,
  unsubscribe: [],
});
const inText = (text: string) => extract(mail({ text })).map(({ url, title }) => [url, title]);

const url = 'https://a.example/how-to-cook-rice';
const jane = { name: 'Jane Doe', handle: null, customDomain: 'a.example' };

describe('the links that extract finds in a mail of text', () => {
  it('are those of the page where a script sent HTML as text', () => {
    expect(inText('<html><body><a href="https://a.example/x">On queues</a></body></html>')).to.deep.equal([['https://a.example/x', 'On queues']]);
  });

  it('have no title out of the description of an image, where another place of the link has one', () => {
    const lake = `[image: A lake] <https://a.example/lakes>\n*Lakes in winter* <https://a.example/lakes>\n\n`;
    const river = `[A river]<https://a.example/rivers>\nRivers of the west\nRead more<https://a.example/rivers>\n`;
    const found = extract(mail({ text: `On queues<https://a.example/queues>\nBy Jane Doe\n\n${lake}${river}[Rice]<https://a.example/rice>` }));
    expect(found.map(({ title, authors }) => [title, authors.length])).to.deep.equal([
      ['On queues', 1],
      ['Lakes in winter', 0],
      ['Rivers of the west', 0],
      ['Rice', 0],
    ]);
  });

  it('are read where its HTML has none, and out of such HTML where it has no text', () => {
    const both = extract(mail({ html: '<p>&nbsp;</p>', text: `How to cook rice\n${url}` }));
    const alone = extract(mail({ html: `<p>How to cook rice</p><p>${url}</p>` }));
    for (const found of [both, alone]) expect(found.map(({ title, url: address }) => [address, title])).to.deep.equal([[url, 'How to cook rice']]);
  });

  const tables = [
    ['a title above the URL', `How to cook rice\n${url}`],
    ['a title and a description above the URL', `How to cook rice\nSlowly, with a lid on.\n${url}`],
    ['a title in the paragraph above', `How to cook rice\n\n${url}`],
    ['a title before the URL', `* How to cook rice: ${url}`],
    ['a title above a button', `How to cook rice\n[Read more]<${url}>`],
    ['a title before a URL in brackets', `1. How to cook rice (${url})`],
    ['a title before a URL in angle brackets, over two lines', `How to cook rice <https://a.example/how-to-\r\ncook-rice>`],
    ['a heading with a line under it', `How to cook rice\n----------------\nSlowly. By Jane Doe.\n${url}`],
    ['a sentence before a byline', `How to cook rice. By Jane Doe.\n${url}`, 'How to cook rice.'],
    ['no line that parts it from what is above', `Beans, for those who have had too much of it\n-----\nHow to cook rice\n${url}`],
    ['Markdown', `- [How to cook rice](${url}), slowly.`],
    ['a title behind the URL', `${url} - How to cook rice`],
    ['bold text as mail programs write it', `*How to cook rice* <${url}>`],
    ['notes', `How to cook rice [1]\n\nSlowly.\n\n[1] ${url}`],
    ['quoted lines', `> How to cook rice\n> ${url}`],
    ['a sentence that leads to the URL', `How to cook rice is now at\n${url}`],
    ['a quotation in such a sentence', `What you asked for is "How to cook rice", and it can be found at ${url}.`],
    ['the item of a list, not the heading above it', `Worth reading\n* How to cook rice\n  by Jane Doe\n  Link: ${url}`],
    ['an item that begins behind another URL', `* Beans (https://b.example/) * How to cook rice\n  by Jane Doe\n  ${url}`],
    ['a line that does not say when it is', `Tuesday 14:00, room 3\nHow to cook rice\n${url}`],
    ['a line that does not say what follows', `From last week:\nHow to cook rice\n${url}`],
    ['a sentence over several lines', `Rice is best when it is\ncooked slowly. Beans, too.\n${url}`, 'Rice is best when it is cooked slowly.'],
    ['a sentence that begins a line above', `Beans are out. All about\nrice is at ${url}`, 'All about rice'],
    ['a headline above a handle', `How to cook rice\nby jane\n${url}`],
    ['a paragraph with several URLs', `How to cook rice\nhttps://b.example/\n${url}`],
    ['a line above the word URL', `How to cook rice\nSlowly.\nURL: ${url}`],
    ['notes in the middle of a sentence', `We met.\nThey announced [1] the fifth\nupdate. It is good.\n\n  1: ${url}`, 'They announced the fifth update.'],
    ['notes behind a sentence that begins above', `Rice [2]. Ann wrote up how\nto cook rice [1].\n\n1: ${url}`, 'Ann wrote up how to cook rice'],
    ['notes of several in one sentence', `Read about beans [2] and about rice [1] by Ann.\n\n  1. ${url}`, 'and about rice'],
    ['notes before the words that they mark', `Read [1]how to cook rice, slowly, and [2]beans.\n\n 1. ${url}`, 'how to cook rice'],
    ['the subject of a quoted mail', `From: Jane Doe\nSubject: How to cook rice\n\n${url}`],
    ['a field that is its title', `rice:0815\nDate: Tue, 2 Jan 2024\nTitle: How to cook rice\nAuthors: Jane Doe\n${url}`],
    ['a line with a mark of Japanese lists', `【レシピ】\n■How to cook rice\n${url}`],
    ['nothing but the URL', url, 'how-to-cook-rice'],
  ] as const;
  for (const [name, text, title = 'How to cook rice'] of tables) it(`have a title of ${name}`, () => expect(inText(text).at(-1)).to.deep.equal([url, title]));

  for (const [written, expected] of [
    ['https://a.example/rice.', 'https://a.example/rice'],
    ['(see https://a.example/rice)', 'https://a.example/rice'],
    ['https://a.example/Rice_(food)', 'https://a.example/Rice_(food)'],
    ['"https://a.example/rice",', 'https://a.example/rice'],
    ['https://a.example/rice?!', 'https://a.example/rice'],
    ['[url=https://a.example/rice]rice[/url]', 'https://a.example/rice'],
    ['[[https://a.example/rice][rice]]', 'https://a.example/rice'],
    ['https://a.example/rice?filter[kind]=food', 'https://a.example/rice?filter[kind]=food'],
    ['「https://a.example/rice」を参照。', 'https://a.example/rice'],
    ['米について：https://a.example/rice。続き', 'https://a.example/rice'],
  ] as const) {
    it(`end where the sentence does: ${written}`, () => expect(inText(written).map(([found]) => found)).to.deep.equal([expected]));
  }

  it('are not the addresses of images, which Outlook writes in brackets', () => {
    const text = `[https://a.example/logo.png]\nHow to cook rice\n[https://cdn.example/proxy/x]<${url}>\n\nBeans [https://b.example/beans]`;
    expect(inText(text)).to.deep.equal([
      [url, 'How to cook rice'],
      ['https://b.example/beans', 'Beans'],
    ]);
  });

  it('are not the page of the mailing list, which Mailman writes below each mail, but that of one that is announced', () => {
    const list = 'https://lists.other.example/mailman/listinfo/rice';
    const footers = ['rice mailing list\nrice@lists.other.example', 'rice mailing list -- rice@lists.other.example'];
    for (const footer of footers)
      expect(inText(`How to cook rice\n${url}\n\n${'_'.repeat(47)}\n${footer}\n${list}`)).to.deep.equal([[url, 'How to cook rice']]);
    expect(inText(`Join the rice mailing list\n${list}`)).to.deep.equal([[list, 'Join the rice mailing list']]);
  });

  it('have the slug for a title in a list of URLs', () => {
    expect(inText(`Worth reading:\nhttps://b.example/beans\n${url}`).at(-1)).to.deep.equal([url, 'how-to-cook-rice']);
  });

  it('leave out what is noise in HTML', () => {
    expect(
      inText(
        'To unsubscribe, visit https://click.a.example/x7\nYou get this\nbecause you want it. To change\nyour settings, go to\nhttps://click.a.example/x9\nView in browser: https://click.a.example/x8\n\nhttps://x.com/jane\nhttps://medium.com/me/settings',
      ),
    ).to.deep.equal([]);
  });

  it('have authors of bylines and handles', () => {
    expect(extract(mail({ text: `How to cook rice\nby Jane Doe\n${url}` }))[0]).to.deep.include({ title: 'How to cook rice', authors: [jane] });
    expect(extract(mail({ text: 'https://medium.com/@jane/rice-1a2b' }))[0]?.authors).to.deep.equal([{ name: 'jane', handle: 'jane', customDomain: null }]);
  });

  it('have no author of the item behind them', () => {
    const found = extract(
      mail({ text: `* Beans (https://b.example/) * How to cook rice\n  by Jane Doe\n  ${url}\n* Lentils: https://c.example/\n* Peas, by John Roe` }),
    );
    expect(found.map(({ authors }) => authors)).to.deep.equal([[], [jane], []]);
  });

  it('are none in a mail of nothing', () => expect(extract(mail({}))).to.deep.equal([]));
});
