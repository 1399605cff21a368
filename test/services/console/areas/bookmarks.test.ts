// The area of bookmarks, on a real catalogue.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { apiKey, startService, migrations as catalogueMigrations, type TestService } from '../../bookmarks/service.ts';
import { call } from '../../../support/call.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { useConsole } from '../service.ts';

/** A way to a server on which bytes can be held up. */
async function createGate(to: string) {
  const { hostname, port } = new URL(to);
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const end of [socket, onward]) {
      sockets.add(end);
      end.on('error', () => end.destroy()).on('close', () => void sockets.delete(end));
    }
    onward.pipe(socket);
    socket
      .on('end', () => onward.end())
      .on('data', (bytes) => {
        onward.write(bytes);
        if (isHeld) socket.pause();
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    hold: () => void (isHeld = true),
    release() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

describe('console bookmarks', () => {
  let catalogueDatabase: TestDatabase;
  let catalogue: TestService;
  let gate: Awaited<ReturnType<typeof createGate>>;
  const console = useConsole(async () => {
    catalogueDatabase = await createTestDatabase({ schema: 'bookmarks', migrations: catalogueMigrations });
    catalogue = await startService({ databaseUrl: catalogueDatabase.url });
    gate = await createGate(catalogue.url);
    return { environment: { Console__BookmarksUrl: gate.url, Console__BookmarksKey: apiKey } };
  });
  beforeEach(() => catalogue.database.driver.query('truncate bookmarks, folders, tags'));
  after(async () => {
    await gate.close();
    await catalogue.close();
    await catalogueDatabase.drop();
  });
  const add = async (given: object): Promise<string> => {
    const { body } = await call(catalogue.url, 'POST', '/api/bookmarks', {
      headers: { 'X-Api-Key': apiKey },
      body: { url: 'https://example.org/', title: 'a title', ...given },
    });
    return body.id;
  };
  const titles = async () => (await catalogue.database.driver.query('select title from bookmarks')).rows.map(({ title }) => title);

  it('looks a page up with what else was entered', async () => {
    const { text } = await (await console.loggedIn()).get('/bookmarks/new?url=not+an+address&title=Flood+maps&description=By+year&tags=maps&favorite=true');
    expect(text).to.include('value="Flood maps"').and.include('>By year</textarea>').and.include('value="maps"').and.include('formaction="/bookmarks/new"');
    expect(text).to.match(/<input type="checkbox"[^>]* checked/);
    expect(text.match(/name="url"/g)).to.have.length(1);
  });

  it('has no address of its own in its pages: the browser knows it', async () => {
    const { text } = await (await console.loggedIn()).get('/bookmarks/new');
    expect(text).to.include('Add to Signalbox').and.not.include(new URL(console.url).host);
  });

  it('says how to fill an empty list, and offers to clear filters that match nothing', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/bookmarks')).text).to.include('signalbox bookmarks import');
    expect((await browser.get('/bookmarks?q=nothing')).text).to.include('Clear filters');
  });

  it('lists bookmarks as text, whatever their titles hold', async () => {
    await add({ title: '<script>alert(1)</script>', tags: ['<b>'] });
    const { text } = await (await console.loggedIn()).get('/bookmarks');
    expect(text).to.include('&lt;script>alert(1)&lt;/script>').and.not.to.include('<script>alert');
  });

  it('pages by a cursor', async () => {
    for (let count = 0; count < 51; count++) await add({ title: `bookmark ${count}`, url: `https://example.org/${count}` });
    const browser = await console.loggedIn();
    const { text } = await browser.get('/bookmarks');
    expect(text).to.include('>bookmark 50<').and.not.to.include('>bookmark 0<');
    const [, next = ''] = /href="(\/bookmarks\?after=[^"]+)"/.exec(text) ?? [];
    expect((await browser.get(next)).text).to.include('>bookmark 0<');
  });

  it('deletes one, says so once, and takes it back', async () => {
    const id = await add({ title: 'Flood maps', tags: ['maps'], favorite: true });
    const browser = await console.loggedIn();
    const deleted = await browser.post(`/bookmarks/${id}/delete`, {}, { Referer: `${console.url}/bookmarks?q=flood` });
    expect([deleted.status, deleted.headers.get('location')]).to.deep.equal([303, '/bookmarks?q=flood']);
    expect(await titles()).to.deep.equal([]);
    const { text } = await browser.get('/bookmarks');
    expect(text).to.include('“Flood maps” is deleted');
    expect((await browser.get('/bookmarks')).text, 'the second time').not.to.include('is deleted');
    const [, undo = ''] = /action="(\/bookmarks\/undo\/[^"]+)"/.exec(text) ?? [];
    expect((await browser.post(undo)).status).to.equal(303);
    const [restored] = (await call(catalogue.url, 'GET', '/api/bookmarks')).body;
    expect(restored)
      .to.include({ id, title: 'Flood maps', favorite: true })
      .and.to.deep.include({ tags: ['maps'] });
    expect((await browser.post(undo)).status, 'the second time').to.equal(404);
    expect(await titles()).to.deep.equal(['Flood maps']);
  });

  it('answers the script with the message and the way back', async () => {
    const id = await add({ title: 'Flood maps' });
    const browser = await console.loggedIn();
    await browser.act(`/bookmarks/${id}/favorite`, { favorite: 'true' });
    const { status, text } = await browser.act(`/bookmarks/${id}/delete`);
    expect(status).to.equal(200);
    const { message, undo } = JSON.parse(text);
    expect(message).to.equal('“Flood maps” is deleted');
    const record = (await browser.get('/system/actions')).text;
    expect(record).to.include(`<a href="/bookmarks/${id}">Flood maps</a>`).and.include(`<span title="${id}">Flood maps</span>`);
    expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
    expect(await titles()).to.deep.equal(['Flood maps']);
  });

  it('is in German for a browser that asks for it at the first login', async () => {
    const browser = console.browser({ 'Accept-Language': 'de-IE,de;q=0.9,en;q=0.8' });
    await browser.logIn();
    expect((await browser.get('/bookmarks')).text)
      .to.include('<html lang="de"')
      .and.to.include('Lesezeichen');
  });

  it('refuses what is not there, and records it', async () => {
    const browser = await console.loggedIn();
    for (const id of ['0197c000-0000-7000-8000-000000000000', 'x', '..%2f..', '%2e%2e']) {
      const { status, text } = await browser.post(`/bookmarks/${id}/delete`);
      expect(status, id).to.equal(404);
      expect(text).to.include('There is nothing here');
    }
    const rows = await console.query(`select distinct area, action, outcome from actions where area = 'bookmarks'`);
    expect(rows).to.deep.equal([{ area: 'bookmarks', action: '/bookmarks/{id}/delete', outcome: 'refused' }]);
  });

  it('tells the script in the language of the person why something was refused', async () => {
    const browser = console.browser({ 'Accept-Language': 'de' });
    await browser.logIn();
    const sayOf = async (path: string, fields = {}): Promise<string> => JSON.parse((await browser.act(path, fields)).text).detail;
    expect(await sayOf('/bookmarks/undo/0197c000-0000-7000-8000-000000000000')).to.include('Diese Änderung gibt es nicht');
    expect(await sayOf('/bookmarks/many/tag', { id: await add({}), tags: 'x'.repeat(101) })).to.include('darf höchstens 100 Zeichen haben');
    await console.query('update people set roles = $1', [JSON.stringify({ bookmarks: 'reader' })]);
    expect(await sayOf('/bookmarks/many/delete')).to.include('Ihre Rolle erlaubt das nicht');
  });

  it('shows what was entered and its faults, in the language of the person, where the service refuses it', async () => {
    const browser = console.browser({ 'Accept-Language': 'de' });
    await browser.logIn();
    const refused = await browser.post('/bookmarks/folders', { name: ' ', parent: '0197c000-0000-7000-8000-000000000000' });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('darf nicht leer sein').and.to.include('value=" "');
    await add({ tags: ['maps'] });
    const name = 'x'.repeat(101);
    const tag = await browser.post('/bookmarks/tags/maps', { name });
    expect([tag.status, tag.text.includes(`value="${name}"`)]).to.deep.equal([400, true]);
  });

  it('renames a tag, and says where another one was merged', async () => {
    await add({ tags: ['map'] });
    await add({ tags: ['maps'] });
    const browser = await console.loggedIn();
    const said = async (from: string, name: string) => JSON.parse((await browser.act(`/bookmarks/tags/${from}`, { name })).text).message;
    expect(await said('map', 'maps')).to.equal('“map” is merged with “maps”');
    expect(await said('maps', 'charts')).to.equal('“maps” is “charts” now');
  });

  it('adds one with the entries that were given, and shows them once more where one is not valid', async () => {
    const browser = await console.loggedIn();
    const entered = { url: 'https://example.org/a', title: 'Flood maps', description: 'By year', tags: 'maps, rivers,,maps', folder: '', favorite: 'true' };
    expect((await browser.post('/bookmarks', entered)).headers.get('location')).to.equal('/bookmarks');
    const [added] = (await call(catalogue.url, 'GET', '/api/bookmarks')).body;
    expect(added).to.deep.include({ url: entered.url, title: 'Flood maps', tags: ['maps', 'rivers'], favorite: true, folderId: null });
    const refused = await browser.post('/bookmarks', { ...entered, url: 'javascript:alert(1)', title: '<b>' });
    expect(refused.status).to.equal(400);
    expect(refused.text).to.include('value="javascript:alert(1)"').and.to.include('value="&lt;b>"').and.to.include('aria-invalid="true"');
    expect((await browser.post(`/bookmarks/${added.id}`, { ...entered, title: 'Other maps', favorite: [] })).status).to.equal(303);
    expect((await call(catalogue.url, 'GET', `/api/bookmarks/${added.id}`)).body).to.include({ title: 'Other maps', favorite: false });
  });

  it('shows what another person has changed meanwhile, and overwrites it only when the form is sent once more', async () => {
    const id = await add({ title: 'Flood maps', tags: ['maps'] });
    const browser = await console.loggedIn();
    const etagIn = (text: string) => (/name="etag" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"');
    const form = await browser.get(`/bookmarks/${id}`);
    const entered = { url: 'https://example.org/mine', title: 'My maps', description: '', tags: 'maps', folder: '' };
    const headers = { 'X-Api-Key': apiKey };
    await call(catalogue.url, 'PATCH', `/api/bookmarks/${id}`, { headers, body: { title: 'Their <b>maps</b>', description: 'By year' } });
    const late = await browser.post(`/bookmarks/${id}`, { ...entered, etag: etagIn(form.text) });
    expect(late.status).to.equal(409);
    expect(late.text).to.include('was changed since').and.to.include('Their &lt;b>maps').and.to.include('By year').and.to.include('value="My maps"');
    expect(late.text, 'tags are equal').not.to.include('<dt>Tags</dt>');
    expect((await call(catalogue.url, 'GET', `/api/bookmarks/${id}`)).body.title).to.equal('Their <b>maps</b>');
    expect((await browser.post(`/bookmarks/${id}`, { ...entered, etag: etagIn(late.text) })).status).to.equal(303);
    expect((await call(catalogue.url, 'GET', `/api/bookmarks/${id}`)).body).to.include({ title: 'My maps', description: '' });
  });

  it('shows the form with its entries where the tag of the state was changed on the way, or the bookmark is gone', async () => {
    const id = await add({ title: 'Flood maps', description: 'one\ntwo', tags: ['a', 'b'] });
    const browser = await console.loggedIn();
    const entered = { url: 'https://example.org/', title: 'My maps', description: 'one\r\ntwo', tags: 'a,b', folder: '' };
    for (const etag of ['', 'no tag', '"a\r\nX-Api-Key: b"', '*']) {
      const { status, text } = await browser.post(`/bookmarks/${id}`, { ...entered, etag });
      expect(status, etag).to.equal(409);
      expect(text).to.include('value="My maps"').and.to.include('<dt>Title</dt>');
      expect(text, 'lines and tags that are equal').not.to.match(/<dt>(Description|Tags)<\/dt>/);
    }
    await catalogue.database.driver.query('truncate bookmarks, folders, tags');
    const gone = await browser.post(`/bookmarks/${id}`, { ...entered, etag: `"${'x'.repeat(22)}"` });
    expect(gone.status).to.equal(404);
    expect(gone.text).to.include('My maps').and.to.include('<input type="hidden" name="etag" ');
  });

  it('warns of a page that is there already, and takes an address of the share sheet', async () => {
    await add({ title: 'Flood maps', url: 'http://127.0.0.1/a' });
    const browser = await console.loggedIn();
    for (const query of ['url=http://127.0.0.1/a?utm_source=x', `text=${encodeURIComponent('Look: http://127.0.0.1/a')}`]) {
      const { status, text } = await browser.get(`/bookmarks/new?${query}`);
      expect(status, query).to.equal(200);
      expect(text).to.include('This page is in the bookmarks already').and.to.include('>Flood maps<').and.to.include('value="http://127.0.0.1/a');
    }
    expect((await browser.get('/bookmarks/new?url=javascript:alert(1)')).status).to.equal(200);
  });

  it('keeps the words of the share sheet beside the address as the description, and its title once', async () => {
    const browser = await console.loggedIn();
    const described = async (query: Record<string, string>) =>
      />([^<]*)<\/textarea>/.exec((await browser.get(`/bookmarks/new?${new URLSearchParams(query)}`)).text)?.[1]?.trim();
    const url = 'http://127.0.0.1/a';
    expect(await described({ text: `Water rises. ${url}` })).to.equal('Water rises.');
    expect(await described({ url, title: 'Floods', text: 'Water rises.' })).to.equal('Water rises.');
    expect(await described({ title: 'Floods', text: `Floods\n${url}` })).to.equal('');
    expect(await described({ url, text: 'Water rises.', description: 'By year' })).to.equal('By year');
    const page = 'Title and description are those of the page';
    expect((await browser.get(`/bookmarks/new?${new URLSearchParams({ url, title: 'Floods' })}`)).text).not.to.include(page);
  });

  it('moves, tags, untags and deletes several, and takes each back', async () => {
    const ids = [await add({ title: 'one', tags: ['maps'], url: 'https://example.org/1' }), await add({ title: 'two', url: 'https://example.org/2' })];
    const { body: folder } = await call(catalogue.url, 'POST', '/api/folders', { headers: { 'X-Api-Key': apiKey }, body: { name: 'Maps' } });
    const browser = await console.loggedIn();
    const facts = async () => {
      const { rows } = await catalogue.database.driver.query('select id from bookmarks order by date_added, id');
      const found = await Promise.all(rows.map(({ id }) => call(catalogue.url, 'GET', `/api/bookmarks/${id}`)));
      return found.map(({ body: { title, tags, folderId } }) => ({ title, tags, folderId }));
    };
    const before = await facts();
    const steps: readonly (readonly [string, Record<string, string>, object])[] = [
      ['move', { folder: folder.id }, { folderId: folder.id }],
      ['tag', { tags: 'maps, rivers' }, { tags: ['maps', 'rivers'] }],
      ['untag', { tags: 'maps' }, { tags: [] }],
    ];
    for (const [step, fields, after] of steps) {
      const { status, text } = await browser.act(`/bookmarks/many/${step}`, { id: ids, ...fields });
      expect([step, status]).to.deep.equal([step, 200]);
      for (const bookmark of await facts()) expect(bookmark, step).to.deep.include(after);
      const { undo } = JSON.parse(text);
      expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
      expect(await facts(), step).to.deep.equal(before);
    }
    const { undo } = JSON.parse((await browser.act('/bookmarks/many/delete', { id: ids })).text);
    expect(await facts()).to.deep.equal([]);
    expect((await browser.act(undo.path, undo.fields)).status).to.equal(200);
    expect(await facts()).to.have.deep.members(before);
    for (const step of ['move', 'tag', 'untag', 'delete'])
      expect((await browser.act(`/bookmarks/many/${step}`, { folder: '', tags: 'a' })).status, step).to.equal(400);
  });

  it('merges and deletes tags with any name, and takes it back', async () => {
    await add({ tags: ['a/b <i>'], url: 'https://example.org/1' });
    await add({ tags: ['maps'], url: 'https://example.org/2' });
    const browser = await console.loggedIn();
    const at = `/bookmarks/tags/${encodeURIComponent('a/b <i>')}`;
    expect((await browser.get(at)).text)
      .to.include('a/b &lt;i>')
      .and.to.include('1 bookmark has it');
    expect((await browser.post(at, { name: 'maps' })).headers.get('location')).to.equal('/bookmarks?tag=maps');
    const { undo } = JSON.parse((await browser.act('/bookmarks/tags/maps/delete')).text);
    expect((await call(catalogue.url, 'GET', '/api/tags')).body).to.deep.equal([]);
    expect((await browser.get('/bookmarks/tags/maps')).status).to.equal(404);
    expect((await browser.act(undo.path)).status).to.equal(200);
    expect((await browser.get('/bookmarks/tags/maps')).text).to.include('2 bookmarks have it');
  });

  it('makes, moves and deletes folders', async () => {
    const browser = await console.loggedIn();
    await browser.post('/bookmarks/folders', { name: 'Maps <i>', parent: '' });
    const [folder] = (await call(catalogue.url, 'GET', '/api/folders')).body;
    await browser.post('/bookmarks/folders', { name: 'Rivers', parent: folder.id });
    await add({ folderId: folder.id });
    expect((await browser.get('/bookmarks')).text)
      .to.include('Maps &lt;i>')
      .and.to.include('depth-1');
    expect((await browser.post(`/bookmarks/folders/${folder.id}`, { name: 'Maps', parent: folder.id })).status).to.equal(400);
    const folders = async () => (await catalogue.database.driver.query('select name, parent_id from folders order by created_at')).rows;
    const renamed = JSON.parse((await browser.act(`/bookmarks/folders/${folder.id}`, { name: 'Charts', parent: '' })).text);
    expect((await folders())[0]).to.deep.equal({ name: 'Charts', parent_id: null });
    expect((await browser.act(renamed.undo.path, renamed.undo.fields)).status).to.equal(200);
    const { undo } = JSON.parse((await browser.act(`/bookmarks/folders/${folder.id}/delete`)).text);
    expect(await folders()).to.deep.equal([{ name: 'Rivers', parent_id: null }]);
    expect((await browser.act(undo.path)).status).to.equal(200);
    expect(await folders()).to.deep.equal([
      { name: 'Maps <i>', parent_id: null },
      { name: 'Rivers', parent_id: folder.id },
    ]);
  });

  it('imports a file that a browser exported, and exports one', async () => {
    const browser = await console.loggedIn();
    const file =
      '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="https://example.org/é" TAGS="maps">Karten für Köln</A>\n<DT><A HREF="place:x">Browser</A>\n</DL><p>\n';
    const upload = (fields: Record<string, string>, bytes: string | Uint8Array<ArrayBuffer> = file) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new Blob([bytes], { type: 'text/html' }), 'bookmarks.html');
      return browser.ask('/bookmarks/import', { method: 'POST', body: form }, { 'Sec-Fetch-Site': 'same-origin' });
    };
    expect((await browser.get('/bookmarks/files')).text).to.include('at most 32 MiB');
    expect((await upload({ dryRun: 'true' })).text).to.include('1 would be imported');
    expect(await titles()).to.deep.equal([]);
    const { status, text } = await upload({});
    expect([status, text.includes('1 imported, 1 left out, 0 failed'), text.includes('>Browser<')]).to.deep.equal([200, true, true]);
    expect(await titles()).to.deep.equal(['Karten für Köln']);
    const western = file
      .replaceAll('DOCTYPE NETSCAPE-Bookmark-file-1>', '$&<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=windows-1252">')
      .replace('/é', '/ö')
      .replace('Köln', 'Löhne');
    await upload({}, new Uint8Array(Buffer.from(western, 'latin1')));
    expect(await titles()).to.have.members(['Karten für Köln', 'Karten für Löhne']);
    for (const [bytes, fault] of [
      [Buffer.from(file.replace('Köln', 'Löhne'), 'latin1'), 'it is not UTF-8'],
      ['', 'no bookmark in this file'],
    ] as const) {
      const refused = await upload({ dryRun: 'true' }, typeof bytes === 'string' ? bytes : new Uint8Array(bytes));
      expect([refused.status, refused.text.includes(fault), /<input[^>]*checked[^>]*name="dryRun"/.test(refused.text)]).to.deep.equal([400, true, true]);
    }
    expect(await titles()).to.have.lengthOf(2);
    const exported = await browser.get('/bookmarks/export');
    expect(exported.headers.get('content-disposition')).to.equal('attachment; filename="bookmarks.html"');
    expect(exported.text).to.include('Karten für Köln');
    const broken = await browser.ask(
      '/bookmarks/import',
      { method: 'POST', body: 'x' },
      { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': 'multipart/form-data; boundary=a' },
    );
    expect(broken.status).to.equal(400);
  });

  it('says how much of an import the catalogue has taken', async () => {
    const browser = await console.loggedIn();
    const progress = async () => JSON.parse((await browser.get('/bookmarks/import/progress')).text);
    const form = new FormData();
    const bookmark = '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="https://example.org/">Example</A>\n</DL><p>\n';
    form.set('file', new Blob([bookmark, ' '.repeat(24_000_000)], { type: 'text/html' }), 'bookmarks.html');
    gate.hold();
    const imported = browser.ask('/bookmarks/import', { method: 'POST', body: form }, { 'Sec-Fetch-Site': 'same-origin' });
    await eventually(async () => {
      const { taken, all } = await progress();
      expect(all).to.equal(24_000_000 + bookmark.length);
      expect(taken).to.be.within(65_536, all - 65_536);
    });
    gate.release();
    expect((await imported).text).to.include('1 imported');
    expect(await progress()).to.deep.equal({});
  });

  it('filters by folder, tag, favourites and dead pages, and pages with these filters', async () => {
    const { body: folder } = await call(catalogue.url, 'POST', '/api/folders', { headers: { 'X-Api-Key': apiKey }, body: { name: 'Maps' } });
    await add({ title: 'in-folder', folderId: folder.id, tags: ['maps'], favorite: true, url: 'https://example.org/1' });
    await add({ title: 'elsewhere', url: 'https://example.org/2' });
    const browser = await console.loggedIn();
    for (const query of [`folder=${folder.id}`, 'tag=maps', 'favorite=true', 'q=folder']) {
      expect((await browser.get(`/bookmarks?${query}`)).text, query)
        .to.include('>in-folder<')
        .and.not.to.include('>elsewhere<');
    }
    expect((await browser.get('/bookmarks?untagged=true')).text)
      .to.include('>elsewhere<')
      .and.not.to.include('>in-folder<');
    expect((await browser.get('/bookmarks?dead=true')).text).to.include('Clear filters');
    const both = (await browser.get('/bookmarks?tag=maps&tag=rivers&q=in')).text;
    expect(both, 'folded, with what was chosen').to.match(/<details class="sides"><summary><strong>maps</);
    for (const tag of ['maps', 'rivers']) expect(both, 'searched once more').to.include(`<input type="hidden" name="tag" value="${tag}"/>`);
    expect(both, 'without the search').to.include('href="/bookmarks?tag=maps&amp;tag=rivers"');
  });

  it('takes a reader to the list, and from no reader a change', async () => {
    const id = await add({ title: 'Flood maps' });
    const browser = await console.personWith({ bookmarks: 'reader' });
    const { status, text } = await browser.get('/bookmarks');
    expect(status).to.equal(200);
    expect(text).not.to.include('/delete');
    expect((await browser.post(`/bookmarks/${id}/delete`)).status).to.equal(403);
    expect(await titles()).to.deep.equal(['Flood maps']);
  });

  it('gives the browser no credential of the service', async () => {
    const id = await add({ title: 'Flood maps' });
    const browser = await console.loggedIn();
    const answers = [await browser.get('/'), await browser.get('/bookmarks'), await browser.act(`/bookmarks/${id}/delete`), await browser.get('/bookmarks')];
    for (const { text, headers } of answers) expect(`${JSON.stringify([...headers])}${text}`).not.to.include(apiKey);
  });
});
