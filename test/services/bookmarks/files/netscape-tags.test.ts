// The tags of bookmark files as they come in pieces, dates without a zone, and texts that are no such file.
import { expect } from 'chai';
import { type FileItem, readNetscape } from '../../../../services/bookmarks/files/netscape-reader.ts';
import { Problem } from '../../../../services/platform/problem.ts';
import { expectLinearTime } from '../../../support/linear-time.ts';

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  for (const piece of texts) yield await Promise.resolve(piece);
}

async function itemsIn(...texts: readonly string[]): Promise<readonly FileItem[]> {
  const read: FileItem[] = [];
  for await (const items of readNetscape(pieces(texts), 500)) read.push(...items);
  return read;
}

async function titlesIn(text: string): Promise<(string | undefined)[]> {
  return (await itemsIn(...(text.match(/[^]{1,1000}/g) ?? []))).map(({ bookmark }) => bookmark?.title);
}

const odd = [
  '<DL><p><DT><H3>f <ABBR>g</ABBR></H3><DL><p>',
  '<DT><ABBR>="<A HREF="https://a.example/1" TAGS="a>b">one <link> </h3x></A>',
  "<DT><A HREF='https://a.example/2' ICON=\"<A\r\n\n \t\n<DT><A HREF=https://a.example/3>3<DD>of <a\n\n<abbr\n\n<li>x</li>\n<HR>",
  '</DL><LI><A HREF="https://a.example/4" TITLE="\n<link\n\n</H3>">4</A>\n\n\n',
].join('\n');

describe('the tags of a bookmark file', () => {
  for (const [what, part] of Object.entries({ icons: 'A', 'line ends in an attribute': '\n' }))
    it(`are read in the time of their length: ${what}`, () =>
      expectLinearTime(async (parts) => {
        const file = `<DL><p><DT><A HREF="https://example.org/1" ICON="${part.repeat(parts * 50_000)}">one</A>`;
        expect(await titlesIn(file)).to.deep.equal(['one']);
      }));

  it('are read in the time of their length in small pieces: each would copy all of a long tag', () =>
    expectLinearTime(async (parts) => {
      const file = `<DL><p><DT><A HREF="https://example.org/1" ICON="${'A'.repeat(parts * 400_000)}">one</A>`;
      expect(await itemsIn(...(file.match(/[^]{1,500}/g) ?? []))).to.have.length(1);
    }));

  it('are the same in whatever pieces the file comes', async () => {
    const whole = await itemsIn(odd);
    expect(whole.filter(({ bookmark }) => bookmark)).to.have.length(4);
    expect(await itemsIn(...odd)).to.deep.equal(whole);
    for (let at = 1; at < odd.length; at += 1) {
      expect(await itemsIn(odd.slice(0, at), odd.slice(at)), `before ${odd.slice(at, at + 20)}`).to.deep.equal(whole);
      expect(await itemsIn(odd.slice(0, at), ...odd.slice(at)), `one by one from ${odd.slice(at, at + 20)}`).to.deep.equal(whole);
    }
  });

  const link = '<a href="https://b.example/">b</a>';
  for (const [name, text] of [
    ['CSV', 'title,url,time_added,tags,status\nA,https://a.example/,1700000000,x|y,unread\n'],
    ['CSV', `"URL","Title"\n"https://a.example/","${link}"\n`],
    ['JSON', '[{"href":"https://a.example/","tags":"x"}]'],
    ['JSON', JSON.stringify({ bookmarks: [{ content: { url: 'https://a.example/' }, note: link }] })],
    ['XML', '<?xml version="1.0"?>\n<!-- by a reader -->\n<opml version="2.0"><body><outline text="a" htmlUrl="https://a.example/"/></body></opml>'],
    [
      'XML',
      '<?xml version="1.0"?>\n<!DOCTYPE xbel PUBLIC "+//IDN" "http://x.example/xbel.dtd">\n<xbel><bookmark href="https://a.example/"><title>A</title></bookmark></xbel>',
    ],
    ['XML', `<?xml version="1.0"?><!DOCTYPE plist PUBLIC "-//Apple"><plist><dict><string>https://a.example/</string></dict></plist>${' '.repeat(3000)}`],
    ['XML', '<posts user="ann">\n<post href="https://a.example/" description="A" tag="x"/>\n</posts>'],
    ['XML', `<?xml version="1.0"?>\n<response><item><url>https://a.example/</url><content><![CDATA[<p>${link}</p>]]></content></item></response>`],
    ['JSON', '[]'],
    ['addresses', 'https://a.example/ | A\nhttps://b.example/ | B\n'],
    ['Markdown', '# Reading\n\n- [A](https://a.example/)\n- [How <a> and <li> work](https://b.example/)\n'],
    ['Markdown', '[A](https://a.example/)\n'],
    ['Markdown', '1. [What <dt> is](https://a.example/)\n'],
    ['no HTML', '[InternetShortcut]\r\nURL=https://a.example/\r\n'],
    [
      'a saved web page',
      'From: <Saved by Blink>\r\nSubject: =?utf-8?Q?A=20?=\r\n =?utf-8?Q?page?=\r\nMIME-Version: 1.0\r\n\r\n<a href=3D"https://a.example/">a</a>',
    ],
    ['zip', 'PK\u0003\u0004\u0014\u0000Bookmarks.html'],
  ])
    it(`are needed: ${name} is refused by its name: ${text?.slice(0, 30)}`, async () => {
      const error: unknown = await titlesIn(text ?? '').catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(Problem);
      expect(error).to.include({ status: 400 });
      expect(error).to.have.property('detail').that.contains(name);
    });

  it('are read below text that looks like another format', async () => {
    for (const above of ['[Bookmarks] of Ann', '{{ template }}', 'Bookmarks: mine\n', 'of <https://a.example/>\n<p>[a](https://a.example/)'])
      expect(await titlesIn(`${above}${link}`), above).to.include('b');
  });

  it('are read in a page of XHTML', async () => {
    expect(await titlesIn(`<?xml version="1.0"?>\n<!DOCTYPE html>\n<html><body><ul><li>${link}</li></ul></body></html>`)).to.deep.equal(['b']);
  });
});

describe('dates of a bookmark file, on a server in another time zone', () => {
  const { TZ } = process.env;
  before(() => (process.env['TZ'] = 'Asia/Tokyo'));
  after(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  for (const date of ['2023-11-14 22:13:20', '2023-11-14T22:13:20', '2023-11-14T22:13:20.000', '2023-11-14 23:13:20+01:00'])
    it(`are in UTC where they have no zone: ${date}`, async () => {
      const [item] = await itemsIn(`<DL><p><DT><A HREF="https://example.org/" ADD_DATE="${date}">x</A>`);
      expect(item?.bookmark?.dateAdded).to.deep.equal(new Date(1_700_000_000_000));
    });
});
