// The area of bookmarks, on a real catalogue.
import { expect } from 'chai';
import { apiKey, startService, migrations as catalogueMigrations, type TestService } from '../../bookmarks/service.ts';
import { call } from '../../../support/call.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { useConsole } from '../service.ts';

describe('console bookmarks', () => {
  let catalogueDatabase: TestDatabase;
  let catalogue: TestService;
  const console = useConsole(async () => {
    catalogueDatabase = await createTestDatabase({ schema: 'bookmarks', migrations: catalogueMigrations });
    catalogue = await startService({ databaseUrl: catalogueDatabase.url });
    return { environment: { Console__BookmarksUrl: catalogue.url, Console__BookmarksKey: apiKey } };
  });
  beforeEach(() => catalogue.database.driver.query('truncate bookmarks, folders, tags'));
  after(async () => {
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
    const [, bookmark = ''] = /name="bookmark" value="([^"]+)"/.exec(text) ?? [];
    expect((await browser.post('/bookmarks/restore', { bookmark: bookmark.replaceAll('&quot;', '"') })).status).to.equal(303);
    const [restored] = (await call(catalogue.url, 'GET', '/api/bookmarks')).body;
    expect(restored)
      .to.include({ title: 'Flood maps', favorite: true })
      .and.to.deep.include({ tags: ['maps'] });
  });

  it('answers the script with the message and the way back', async () => {
    const id = await add({ title: 'Flood maps' });
    const { status, text } = await (await console.loggedIn()).act(`/bookmarks/${id}/delete`);
    expect(status).to.equal(200);
    const { message, undo } = JSON.parse(text);
    expect(message).to.equal('“Flood maps” is deleted');
    expect(undo.path).to.equal('/bookmarks/restore');
    expect(JSON.parse(undo.fields.bookmark)).to.include({ title: 'Flood maps' });
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

  it('shows the faults of an entry that the service refuses', async () => {
    const { status, text } = await (await console.loggedIn()).post('/bookmarks/restore', { bookmark: JSON.stringify({ title: '', url: 'x' }) });
    expect(status).to.equal(400);
    expect(text).to.include('must not be empty');
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
