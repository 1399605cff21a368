// Files of browsers: what is taken from them, and that it comes back as it was.
import { type IncomingMessage, request } from 'node:http';
import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../support/wait.ts';
import { readNetscape } from '../../../../services/bookmarks/files/netscape-reader.ts';
import { apiKey, call, useService } from '../service.ts';
import { importedAt, link, page, shapes } from './files.ts';

type Named = { readonly index: number; readonly title: string; readonly reason: string };

async function* toAsync<T>(values: Iterable<T>): AsyncGenerator<T> {
  for (const value of values) yield await Promise.resolve(value);
}

describe('bookmark files', () => {
  const clock = { now: importedAt };
  const catalogue = useService({ clock: () => clock.now });
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'X-Api-Key': apiKey };
  const send = (file: string | Uint8Array, query = '') => call(catalogue.url, 'POST', `/api/import${query}`, { body: file, headers });
  const taken = async (file: string, query = '') => {
    const { status, body, text } = await send(file, query);
    expect(status, text).to.equal(200);
    const { leftOut, ...result } = body as { created: number; skipped: number; failed: Named[]; leftOut: Named[] };
    leftOutLast = leftOut;
    return result;
  };
  /** By the last import. */
  let leftOutLast: Named[] = [];
  const exported = async () => (await catalogue.get('/api/export')).text;

  /** Paths of folders, and a line for each bookmark, as `shapes` has them. */
  async function content() {
    const folders = (await catalogue.get('/api/folders')).body as { id: string; name: string; parentId: string | null }[];
    const pathOf = (id: string | null): string => {
      const folder = folders.find((one) => one.id === id);
      return folder ? [pathOf(folder.parentId), folder.name].filter((part) => part !== '').join('/') : '';
    };
    const bookmarks = (await catalogue.get('/api/bookmarks')).body as Record<string, any>[]; // eslint-disable-line @typescript-eslint/no-explicit-any
    return {
      folders: folders.map(({ id }) => pathOf(id)).sort(),
      bookmarks: bookmarks.map((one) =>
        [pathOf(one['folderId']), one['title'], one['url'], Date.parse(one['dateAdded']) / 1000, one['tags'], one['description']].join(' | '),
      ),
    };
  }
  const empty = () => catalogue.query('truncate bookmarks, folders, tags');

  for (const [shape, { file, folders, bookmarks, leftOut }] of Object.entries(shapes))
    describe(`in the shape of ${shape}`, () => {
      it('are imported with folders, titles, dates, tags and descriptions, and the rest is listed with its reason', async () => {
        expect(await taken(file, '?private=include')).to.deep.equal({ created: bookmarks.length, skipped: leftOut.length, failed: [] });
        expect(leftOutLast.map(({ title }) => title)).to.deep.equal(leftOut);
        for (const { reason } of leftOutLast) expect(reason).to.match(/^(?:place|javascript): is an address of the browser$/);
        expect(await content()).to.deep.equal({ folders: [...folders].sort(), bookmarks });
      });

      it('come back from an export as they were', async () => {
        await taken(file, '?private=include');
        const before = await content();
        const copy = await exported();
        await empty();
        expect(await taken(copy)).to.deep.equal({ created: bookmarks.length, skipped: 0, failed: [] });
        const after = await content();
        // Bookmarks of one moment have the order of the export.
        expect({ ...after, bookmarks: after.bookmarks.sort() }).to.deep.equal({ ...before, bookmarks: before.bookmarks.sort() });
        expect(await exported()).to.equal(copy);
      });

      it('are read alike however they are cut into pieces', async () => {
        const whole = await taken(file, '?dryRun=true');
        const sending = request(`${catalogue.url}/api/import?dryRun=true`, { method: 'POST', headers });
        const answered = once(sending, 'response');
        for (const byte of Buffer.from(file)) sending.write(Buffer.of(byte));
        sending.end();
        const [response] = await answered;
        expect(JSON.parse(Buffer.concat(await (response as IncomingMessage).toArray()).toString())).to.deep.equal({ ...whole, leftOut: leftOutLast });
      });
    });

  describe('POST /api/import', () => {
    it('skips what is in the same folder already: run again it adds nothing', async () => {
      const { file, bookmarks, leftOut } = Object.values(shapes)[0] ?? { file: '', bookmarks: [], leftOut: [] };
      await taken(file);
      const before = await content();
      expect(await taken(file)).to.deep.equal({ created: 0, skipped: bookmarks.length + leftOut.length, failed: [] });
      expect(await content()).to.deep.equal(before);
    });

    it('tells the same address in another folder from one in the same, in the file and in the catalogue', async () => {
      await catalogue.bookmark({ url: 'https://example.org/1' });
      const [one, two] = [link('https://example.org/1', 'one'), link('https://example.org/2', 'two')];
      const file = page(one, two, two, '<DT><H3>a</H3><DL><p>', one, one, '</DL><p>', '<DT><H3>a</H3><DL><p>', one, '</DL><p>');
      expect(await taken(file)).to.deep.equal({ created: 2, skipped: 4, failed: [] });
      expect((await content()).folders).to.deep.equal(['a']);
    });

    it('puts into a folder that is there, the oldest one of that name', async () => {
      const folder = await catalogue.folder({ name: 'a' });
      clock.now = new Date(clock.now.getTime() + 1000);
      await catalogue.folder({ name: 'a' });
      clock.now = importedAt;
      await taken(page('<DT><H3> a </H3><DL><p>', link('https://example.org/', 'x'), '</DL><p>'));
      const { body } = await catalogue.get(`/api/bookmarks?folderId=${folder.id}`);
      expect(body).to.have.length(1);
    });

    it('with dryRun answers what would be done, and does nothing', async () => {
      await catalogue.bookmark({ url: 'https://example.org/1' });
      const etag = (await catalogue.get('/api/tags')).headers.get('etag');
      const file = page(
        link('https://example.org/1', 'x'),
        '<DT><H3>new</H3><DL><p>',
        link('https://example.org/1', 'x', 'TAGS="t"'),
        link('https://example.org/1', 'x'),
        '</DL>',
        link('ftp://x', 'bad'),
      );
      const dry = await taken(file, '?dryRun=True');
      expect(dry).to.deep.include({ created: 1, skipped: 2 });
      expect(dry.failed).to.have.length(1);
      expect((await catalogue.get('/api/tags')).headers.get('etag')).to.equal(etag);
      expect((await content()).folders).to.deep.equal([]);
      expect(await taken(file, '?dryRun=false')).to.deep.equal(dry);
      expect((await catalogue.get('/api/tags')).body).to.deep.equal(['t']);
    });

    it('answers 400 to another dryRun, and where it is misspelled, and imports nothing', async () => {
      const before = (await catalogue.get('/api/bookmarks')).text;
      for (const [query, member] of [
        ['dryRun=yes', 'dryRun'],
        ['dryrun=true', 'dryrun'],
        ['dry_run=true', 'dry_run'],
      ] as const) {
        const { status, body } = await send(page('<DT><A HREF="https://misspelled.example/">Misspelled</A>'), `?${query}`);
        expect([status, Object.keys(body.errors)], query).to.deep.equal([400, [member]]);
      }
      expect((await catalogue.get('/api/bookmarks')).text).to.equal(before);
      expect((await catalogue.get('/api/export?folderId=x')).status).to.equal(400);
    });

    it('tells failures by their place among the bookmarks, each with its reason', async () => {
      const long = 'n'.repeat(201);
      const file = page(
        link('https://example.org/', 'fine'),
        link('/relative', 'relative'),
        link('https://example.org/', 't'.repeat(501)),
        '<DT><A>no address</A>',
        link('https://example.org/many', 'many', `TAGS="${Array.from({ length: 101 }, (_, index) => index).join()}"`),
        link('https://example.org/described', 'described'),
        `<DD>${'d'.repeat(50_000)}`,
        `<DT><H3>${long}</H3><DL><p><DT><H3>below</H3><DL><p>`,
        link('https://example.org/in', 'in'),
        '</DL></DL>',
        link('https://example.org/last', 'last'),
      );
      const { created, failed } = await taken(file);
      expect(created).to.equal(2);
      expect(failed.map(({ index, title, reason }) => [index, title.slice(0, 10), reason])).to.deep.equal([
        [1, 'relative', 'url must be an absolute http or https URL'],
        [2, 'tttttttttt', 'title must be at most 500 characters long'],
        [3, 'no address', 'url must not be empty; url must be an absolute http or https URL'],
        [4, 'many', 'tags must hold at most 100 tags'],
        [5, 'described', 'description must be at most 10000 characters long'],
        [6, 'in', `its folder's name must be at most 200 characters long`],
      ]);
      expect((await content()).folders).to.deep.equal([]);
    });

    it('takes the address for the title where there is none, and leaves out a folder without a name', async () => {
      await taken(page('<DT><H3> </H3><DL><p>', link('https://example.org/', ' '), '</DL><p>'));
      expect(await content()).to.deep.equal({
        folders: [],
        bookmarks: [` | https://example.org/ | https://example.org/ | ${importedAt.getTime() / 1000} |  | `],
      });
    });

    for (const [added, seconds] of [
      ['1700000000', 1_700_000_000],
      ['1700000000123', 1_700_000_000.123],
      ['1700000000123456', 1_700_000_000.123],
      ['13350000000000000', 1_705_526_400],
      ['2023-11-14T22:13:20Z', 1_700_000_000],
      ['0', importedAt.getTime() / 1000],
      ['', importedAt.getTime() / 1000],
      ['-5', importedAt.getTime() / 1000],
      ['99999999999999999999', importedAt.getTime() / 1000],
      ['yesterday', importedAt.getTime() / 1000],
    ] as const)
      it(`reads ADD_DATE="${added}"`, async () => {
        await taken(page(link('https://example.org/', 'x', `ADD_DATE="${added}"`)));
        expect((await content()).bookmarks[0]).to.contain(`| ${seconds} |`);
      });

    it('takes what is broken, as far as it goes', async () => {
      for (const file of ['', '<p>no bookmarks', '</DL></DL></A></H3>', '<DL>', '<A', '<A HREF="x', '<DT><H3>a', '\ufeff'])
        expect(await taken(file)).to.include({ created: 0, skipped: 0 });
      expect(await taken('<a href=https://example.org/1>one<a href=https://example.org/2>two<dd>about two<dt><h3>f</h3>')).to.include({ created: 2 });
      expect((await content()).folders).to.deep.equal(['a', 'f']);
      expect((await catalogue.get('/api/bookmarks?q=about')).body[0].title).to.equal('two');
    });

    it('ends a title at its bookmark, whatever element or comment is named in it', async () => {
      for (const title of [
        'How <script> works',
        'The <style> of <textarea>',
        'An <iframe src="x',
        'A <!-- comment',
        'a <b>bold</b> one',
        '1 < 2 > 1',
        '<title>',
        '<![CDATA[',
        '<?php',
      ]) {
        await empty();
        const file = page(
          link('https://example.org/1', title),
          link('https://example.org/2', 'Second'),
          '<DD>about it',
          link('https://example.org/3', 'Third'),
        );
        expect(await taken(file), title).to.deep.equal({ created: 3, skipped: 0, failed: [] });
        expect((await content()).bookmarks.map((line) => line.split(' | ')[1])).to.have.members([title, 'Second', 'Third']);
      }
    });

    it('ends a tag that is not closed, or whose quote is not, at its line', async () => {
      const second = link('https://example.org/2', 'Second');
      for (const first of [
        '<DT><A HREF="https://example.org/1>First</A>',
        "<DT><A HREF='https://example.org/1>First</A>",
        '<DT><A HREF="https://example.org/1" ICON="data:x',
      ]) {
        await empty();
        expect(await taken(page(first, second)), first).to.deep.equal({ created: 2, skipped: 0, failed: [] });
        const lines = (await content()).bookmarks.map((line) => line.split(' | ').slice(1, 3).join(' '));
        expect(lines).to.include.members([
          first.includes('First') ? 'First https://example.org/1' : 'https://example.org/1 https://example.org/1',
          'Second https://example.org/2',
        ]);
      }
    });

    it('reports a bookmark within which the file ends', async () => {
      for (const end of ['<DT><A HREF="https://example.org/2">Half a ti', '<DT><A HREF="https://example.or']) {
        const { created, failed } = await taken(`<DL><p>\n${link('https://example.org/1', 'First')}\n${end}`, '?dryRun=true');
        expect([created, failed.map(({ reason }) => reason)]).to.deep.equal([1, ['the file ends within this bookmark']]);
      }
    });

    it('keeps links within a description as text, and drops text between bookmarks', async () => {
      const file = page(
        `${link('https://example.org/1', 'First')} behind it`,
        '<DD>See <A HREF="https://example.org/other">another</A> page\nand more',
        link('https://example.org/2', 'Second'),
      );
      expect(await taken(file)).to.deep.equal({ created: 2, skipped: 0, failed: [] });
      expect((await content()).bookmarks).to.deep.equal([
        ` | First | https://example.org/1 | ${importedAt.getTime() / 1000} |  | See another page\nand more`,
        ` | Second | https://example.org/2 | ${importedAt.getTime() / 1000} |  | `,
      ]);
    });

    it('reads the exports of Pocket, with their dates', async () => {
      const file =
        '<!DOCTYPE html><html><body><h1>Unread</h1><ul>\n<li><a href="https://example.org/1" time_added="1700000007" tags="a,b">One</a></li>\n<li><a href="https://example.org/2" time_added="1700000008" tags="">Two</a></li></ul></body></html>';
      await taken(file);
      expect((await content()).bookmarks).to.deep.equal([
        ' | One | https://example.org/1 | 1700000007 | a,b | ',
        ' | Two | https://example.org/2 | 1700000008 |  | ',
      ]);
    });

    it('keeps the tags of a list in a description', async () => {
      await taken('<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="https://example.org/1">One</A>\n<DD>Of <ul><li>a</li><li>b</li></ul>\n</DL>');
      expect((await content()).bookmarks).to.deep.equal([
        ` | One | https://example.org/1 | ${importedAt.getTime() / 1000} |  | Of <ul><li>a</li><li>b</li></ul>`,
      ]);
    });

    it('counts each bookmark of any file as created, skipped or failed', async () => {
      const part = fc.constantFrom(
        '<script>',
        '</script>',
        '<style>',
        '<!--',
        '-->',
        '<textarea>',
        '<title>',
        '<iframe',
        '"',
        "'",
        '>',
        '<',
        '&lt;',
        '&amp',
        'x',
        ' ',
        '\n',
        '<b>',
        '</b',
        'é',
      );
      const text = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
      const bookmark = fc.record({ number: fc.integer({ min: 0, max: 9 }), title: text, description: text, scheme: fc.constantFrom('https', 'javascript') });
      await fc.assert(
        fc.asyncProperty(fc.array(bookmark, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), async (bookmarks, size) => {
          const file = page(
            ...bookmarks.map(
              ({ number, title, description, scheme }) => `${link(`${scheme}://example.org/${number}`, title)}\n<DD>${description.replaceAll('"', '')}`,
            ),
          );
          let seen = 0;
          const pieces = (file.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).values();
          for await (const items of readNetscape(toAsync(pieces), 5)) seen += items.filter((item) => item.bookmark).length;
          expect(seen).to.equal(bookmarks.length);
          await empty();
          const { created, skipped, failed } = await taken(file);
          expect(created + skipped + failed.length).to.equal(bookmarks.length);
        }),
        { numRuns: 60 },
      );
    });

    it('replaces what is no UTF-8', async () => {
      await send(Buffer.concat([Buffer.from('<DL><DT><A HREF="https://example.org/">caf'), Buffer.of(0xe9), Buffer.from('</A></DL>')]));
      expect((await content()).bookmarks[0]).to.contain('caf\ufffd');
    });

    it('decodes the character set that is declared, else the one of the byte order mark or the META element, and answers 415 to an unknown one, or to none', async () => {
      const cafe = (before = '') => `${before}<DL><DT><A HREF="https://example.org/">café</A></DL>`;
      const latin1 = (text: string) => Buffer.from(text, 'latin1');
      const meta = '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1252">';
      const post = async (body: Buffer, contentType: string) => {
        await empty();
        const { status } = await call(catalogue.url, 'POST', '/api/import', { body, headers: { ...headers, 'Content-Type': contentType } });
        return status === 200 ? (await content()).bookmarks.join().split(' | ')[1] : status;
      };
      expect(await post(latin1(cafe()), 'text/html; charset=iso-8859-1')).to.equal('café');
      expect(await post(latin1(cafe()), 'text/html;Charset="ISO-8859-1"')).to.equal('café');
      expect(await post(latin1(cafe(meta)), 'text/html')).to.equal('café');
      expect(await post(Buffer.from(cafe(meta)), 'text/html; charset=utf-8')).to.equal('café');
      const utf16 = (text: string) => Buffer.from(text, 'utf16le');
      for (const type of ['text/html', 'text/html; charset=utf-8', 'text/html; charset=utf-16le'])
        expect(await post(utf16(`\ufeff${cafe()}`), type)).to.equal('café');
      expect(await post(utf16(`\ufeff${cafe()}`).swap16(), 'text/html')).to.equal('café');
      expect(await post(utf16(cafe()), 'text/html')).to.equal('café');
      expect(await post(utf16(cafe()).swap16(), 'text/html')).to.equal('café');
      expect(await post(Buffer.from(`\ufeff${cafe()}`, 'utf16le').swap16(), 'text/html')).to.equal('café');
      expect(await post(Buffer.from(`\ufeff${cafe()}`), 'text/html')).to.equal('café');
      expect(await post(Buffer.from(cafe()), 'text/html; charset=klingon')).to.equal(415);
      for (const before of ['', ' '.repeat(2000)]) expect(await post(latin1(cafe(before)), 'text/html'), 'not UTF-8').to.equal(415);
    });

    it('answers 415 to another media type, 401 without a key before it looks at anything, and 400 to folders nested without end', async () => {
      expect((await call(catalogue.url, 'POST', '/api/import', { body: '{}', headers: { ...headers, 'Content-Type': 'application/json' } })).status).to.equal(
        415,
      );
      expect((await call(catalogue.url, 'POST', '/api/import?dryRun=x', { body: page(), headers: { 'Content-Type': 'text/html' } })).status).to.equal(401);
      expect((await send('<DL>'.repeat(100_000))).body).to.include({ status: 400, title: 'The file is not usable as Netscape bookmark HTML' });
      expect((await send(`<A HREF="${'x'.repeat(6_000_000)}">`)).body).to.include({ status: 400, title: 'The file is not usable as Netscape bookmark HTML' });
    });

    it('answers 400 to a file of which ten thousand bookmarks fail', async () => {
      expect((await send('<A>'.repeat(11_000))).status).to.equal(400);
    });

    it('keeps what it has stored when its sender goes away, and goes on from there when it is run again', async () => {
      const links = Array.from({ length: 3000 }, (_, index) => link(`https://example.org/${index}`, `title ${index}`));
      const sending = request(`${catalogue.url}/api/import`, { method: 'POST', headers });
      sending.on('error', () => undefined);
      sending.write(links.slice(0, 2000).join('\n'));
      const stored = await eventually(async () => {
        const count = (await content()).bookmarks.length;
        return count >= 1000 && count;
      });
      sending.destroy();
      const { created, skipped } = await taken(page(...links));
      expect(created + skipped).to.equal(3000);
      expect(skipped).to.be.at.least(stored);
      expect((await content()).bookmarks).to.have.length(3000);
    });

    it('adds each bookmark and folder once when it is run twice at the same time', async () => {
      const links = Array.from({ length: 1500 }, (_, index) => `<DT><H3>f${index % 7}</H3><DL>${link(`https://example.org/${index}`, `title ${index}`)}</DL>`);
      const [one, two] = await Promise.all([taken(page(...links)), taken(page(...links))]);
      expect(one.created + two.created).to.equal(1500);
      expect((await content()).bookmarks).to.have.length(1500);
      expect((await content()).folders).to.have.length(7);
    });
  });

  describe('GET /api/export', () => {
    it('answers an HTML file to be saved, with or without bookmarks, without a key', async () => {
      const { status, headers: given, text } = await catalogue.get('/api/export');
      expect(status).to.equal(200);
      expect(given.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(given.get('content-disposition')).to.equal('attachment; filename="bookmarks.html"');
      expect(text).to.match(/^<!DOCTYPE NETSCAPE-Bookmark-file-1>\n.*<H1>Bookmarks<\/H1>\n<DL><p>\n<\/DL><p>\n$/s);
    });

    it('brings back whatever text there is', async function () {
      this.timeout(60_000);
      const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((one) => one.replaceAll(/[\0\p{Cs}]/gu, '').trim());
      const named = text.filter((one) => one !== '');
      const bookmark = fc.record({ title: named, description: text, tags: fc.array(fc.oneof(named, fc.constantFrom('a,b', ',', '"', '&amp;', '<b>', ' x'))) });
      const given = fc.record({ name: named, bookmarks: fc.array(bookmark, { maxLength: 4 }) });
      await fc.assert(
        fc.asyncProperty(given, async ({ name, bookmarks }) => {
          await empty();
          const folder = await catalogue.folder({ name });
          for (const [index, one] of bookmarks.entries())
            await catalogue.bookmark({ ...one, url: `https://example.org/${index}?a="&amp;<'`, folderId: folder.id });
          const before = await content();
          const copy = await exported();
          await empty();
          expect(await taken(copy)).to.deep.include({ failed: [] });
          expect(await content()).to.deep.equal(before);
        }),
        { numRuns: 20 },
      );
    });

    it('nests a thousand folders', async () => {
      await catalogue.query(`with recursive chain as (
          select 1 as n, gen_random_uuid() as id, null::uuid as parent_id
          union all select n + 1, gen_random_uuid(), id from chain where n < 900)
        insert into folders (id, name, parent_id, created_at) select id, 'folder ' || n, parent_id, now() from chain`);
      const copy = await exported();
      await empty();
      expect(await taken(copy)).to.deep.include({ failed: [] });
      expect(await catalogue.query('select 1 from folders')).to.have.length(900);
    });
  });
});
