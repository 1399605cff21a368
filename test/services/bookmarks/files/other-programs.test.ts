// Files of Instapaper, linkding, SemanticScuttle, DuckDuckGo, Pinboard, Vivaldi and Safari, each in a way of its own.
import { expect } from 'chai';
import { apiKey, call, useService } from '../service.ts';
import { link, page } from './files.ts';

type Stored = { title: string; url: string; description: string; favorite: boolean; folderId: string | null };

describe('bookmark files of other programs', () => {
  const catalogue = useService();
  const send = (body: string) => call(catalogue.url, 'POST', '/api/import', { body, headers: { 'Content-Type': 'text/html', 'X-Api-Key': apiKey } });
  const stored = async () => (await catalogue.get('/api/bookmarks')).body as Stored[];
  const folders = async () => (await catalogue.get('/api/folders')).body as { id: string; name: string }[];

  const instapaper = `<!DOCTYPE html>
<html>
<head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
<title>Instapaper: Export</title></head>
<body>
<h1>Unread</h1>
<ol>
<li><a href="https://example.org/unread">Unread</a>
</ol>

<h1>Starred</h1>
<ol>
<li><a href="https://example.org/starred">How an <h1> and an <ol> work,
        in two lines</a>
</ol>

<h1>Kitchen &amp; garden</h1>
<ol>
<li><a href="https://example.org/bread">Bread</a>
<li><a href="https://example.org/beans">Beans</a>
</ol>

<h1>Archive</h1>
<ol>
<li><a href="https://example.org/read">Read</a>
</ol>
</body></html>
`;

  it('of Instapaper keep their folders and favorites', async () => {
    expect((await send(instapaper)).body).to.include({ created: 5, skipped: 0 });
    const [folder, ...others] = await folders();
    expect([folder?.name, others]).to.deep.equal(['Kitchen & garden', []]);
    const lines = (await stored()).map(({ title, favorite, folderId }) => [title, favorite, folderId === folder?.id]);
    expect(lines).to.have.deep.members([
      ['Unread', false, false],
      ['How an <h1> and an <ol> work, in two lines', true, false],
      ['Bread', false, true],
      ['Beans', false, true],
      ['Read', false, false],
    ]);
  });

  it('have no folder for the heading of the file, or for one in a description', async () => {
    const description = '<DD>Of\n<h1>A heading</h1>\n<ol>\n<li>one\n</ol>';
    await send(page(link('https://example.org/', 'One'), description, link('https://example.org/2', 'Two')));
    await send(`<TITLE>Bookmarks</TITLE>\n<H1>Bookmarks</H1>\n${link('https://example.org/3', 'Three')}\n<DD>Of <h1>a heading</h1>\n<ol>`);
    await send('<html><body><h1>Unread</h1>\n<ul>\n<li><a href="https://example.org/4" time_added="1700000000">Four</a></li>\n</ul></body></html>');
    expect(await folders()).to.deep.equal([]);
    expect((await stored()).map((one) => one.description)).to.have.members([description.slice(4), '', 'Of <h1>a heading</h1>\n<ol>', '']);
  });

  it('of linkding have the notes behind the description', async () => {
    await send(
      page(
        link('https://example.org/1', 'both'),
        '<DD>About &lt;it&gt;[linkding-notes]Line 1\nLine 2[/linkding-notes]',
        link('https://example.org/2', 'notes'),
        '<DD>[linkding-notes]A note[/linkding-notes]',
        link('https://example.org/3', 'neither'),
        '<DD>How [linkding-notes] is written',
      ),
    );
    const descriptions = Object.fromEntries((await stored()).map(({ title, description }) => [title, description]));
    expect(descriptions).to.deep.equal({ both: 'About <it>\n\nLine 1\nLine 2', notes: 'A note', neither: 'How [linkding-notes] is written' });
  });

  it('of SemanticScuttle have the description in an attribute', async () => {
    await send(`<TITLE>Bookmarks</TITLE>
<DL>
  <DT><A HREF="https://example.org/" description="The best &amp; the rest
on two lines." hash="c6a2" TAGS="music" ADD_DATE="1491107880" >Music</a>
</DL>`);
    expect((await stored()).map((one) => one.description)).to.deep.equal(['The best & the rest\non two lines.']);
  });

  it("of DuckDuckGo's browsers keep favorites", async () => {
    await send(`<!DOCTYPE NETSCAPE-Bookmark-file-1>
<HTML>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<Title>Bookmarks</Title>
<H1>Bookmarks</H1>
<DT><H3 FOLDED>Maps</H3>
<DL><p>
    <DT><A HREF="https://example.org/1" duckduckgo:favorite="true">One</A>
    <DT><A HREF="https://example.org/2">Two</A>
</DL><p>
</HTML>`);
    expect((await stored()).map(({ title, favorite }) => [title, favorite])).to.have.deep.members([
      ['One', true],
      ['Two', false],
    ]);
  });

  it('of Pinboard have descriptions without the quote around them, and others keep theirs', async () => {
    const [whole, part] = ['<blockquote>A &amp; B\n<b>C</b></blockquote>', '<blockquote>A</blockquote> and B'];
    await send(page(link('https://example.org/1', 'whole'), `<DD>${whole}`, link('https://example.org/2', 'part'), `<DD>${part}`));
    await catalogue.bookmark({ title: 'own', url: 'https://example.org/own', description: whole });
    const copy = (await catalogue.get('/api/export')).text;
    await catalogue.query('truncate bookmarks, folders, tags');
    await send(copy);
    const descriptions = Object.fromEntries((await stored()).map(({ title, description }) => [title, description]));
    expect(descriptions).to.deep.equal({ whole: 'A & B\n<b>C</b>', part, own: whole });
  });

  it('of Karakeep have addresses that are percent-encoded twice, and those of others once', async () => {
    const top = `<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
<DL><p>
    `;
    const lines = [
      link('https://example.org/1', 'plain', 'ADD_DATE="1700000000" '),
      link('https://example.org/Gr%25C3%25B6%25C3%259Fe?a=1&amp;b=50%2525', 'coded', 'ADD_DATE="1700000001" TAGS="a,b"'),
      link('https://example.org/%E6%97%A5', 'raw', 'ADD_DATE="1700000002" '),
    ];
    const urls = async () => Object.fromEntries((await stored()).map(({ title, url }) => [title, url]));
    const saved = { plain: 'https://example.org/1', coded: 'https://example.org/Gr%C3%B6%C3%9Fe?a=1&b=50%25', raw: 'https://example.org/%E6%97%A5' };
    expect((await send(`${top}${lines.join('\n    ')}\n</DL><p>`)).body).to.include({ created: 3, skipped: 0 });
    expect(await urls()).to.deep.equal(saved);
    expect((await send(`${top}${lines.join('\n    ')}\n</DL><p>`)).body).to.include({ created: 0, skipped: 3 });

    await catalogue.query('truncate bookmarks, folders, tags');
    const written = { plain: saved.plain, coded: 'https://example.org/Gr%25C3%25B6%25C3%259Fe?a=1&b=50%2525', raw: saved.raw };
    for (const first of ['<DT><H3>A folder</H3><DL><p>\n    ', link('https://example.org/0', 'first', 'ICON="x"')]) {
      await send(`${top}${first}\n${lines.join('\n')}\n</DL><p>`);
      expect(await urls()).to.include(written);
    }
    const copy = (await catalogue.get('/api/export')).text;
    await catalogue.query('truncate bookmarks, folders, tags');
    await send(copy);
    expect(await urls()).to.include(written);
  });

  it('of Vivaldi have separators, which are left out', async () => {
    const { body } = await send(page(link('http://bookmark.placeholder.url/', '---'), link('https://example.org/', 'One')));
    expect(body).to.deep.include({ created: 1, skipped: 1, failed: [], leftOut: [{ index: 0, title: '---', reason: 'it is a separator' }] });
  });

  it('may have lines that end with CR and LF, and descriptions of our own keep theirs', async () => {
    await catalogue.bookmark({ title: 'own', url: 'https://example.org/own', description: 'Two\r\nlines' });
    const copy = (await catalogue.get('/api/export')).text;
    await catalogue.query('truncate bookmarks, folders, tags');
    await send(copy);
    await send(page(link('https://example.org/', 'theirs'), '<DD>Two\nlines').replaceAll('\n', '\r\n'));
    const descriptions = Object.fromEntries((await stored()).map(({ title, description }) => [title, description]));
    expect(descriptions).to.deep.equal({ own: 'Two\r\nlines', theirs: 'Two\nlines' });
  });

  it('have titles on one line, and one of our own with a line break comes back with it', async () => {
    await catalogue.bookmark({ title: 'Two\nlines', url: 'https://example.org/own' });
    await catalogue.folder({ name: 'A\nfolder' });
    const copy = (await catalogue.get('/api/export')).text;
    await catalogue.query('truncate bookmarks, folders, tags');
    await send(copy);
    await send(page(link('https://example.org/', '\n  A thread\n\n  of three lines\n  and more\n')));
    expect((await stored()).map(({ title }) => title)).to.have.members(['Two\nlines', 'A thread of three lines and more']);
    expect((await folders()).map(({ name }) => name)).to.deep.equal(['A\nfolder']);
  });
});
