// Changes of bookmarks, tags and folders that are taken back.
import { expect } from 'chai';
import { undoOn } from '../../../services/bookmarks/undo/store.ts';
import { call } from '../../support/call.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { apiKey, migrations, startService, type TestService } from './service.ts';

const nobody = '0197c000-0000-7000-8000-000000000000';

describe('bookmarks undo', () => {
  let database: TestDatabase;
  let service: TestService;
  before(async () => {
    database = await createTestDatabase({ schema: 'bookmarks', migrations });
    service = await startService({ databaseUrl: database.url });
  });
  after(async () => {
    await service.close();
    await database.drop();
  });
  beforeEach(() => query('truncate bookmarks, folders, tags, undoable'));

  const query = async (sql: string) => (await service.database.driver.query(sql)).rows;
  const ask = (method: 'POST' | 'PUT' | 'DELETE' | 'PATCH', path: string, body?: object) =>
    call(service.url, method, path, { headers: { 'X-Api-Key': apiKey }, ...(body && { body }) });
  const add = async (members: object = {}): Promise<string> =>
    (await ask('POST', '/api/bookmarks', { url: 'https://example.org/', title: 'a', ...members })).body.id;
  const addFolder = async (name: string, parentId: string | null = null): Promise<string> => (await ask('POST', '/api/folders', { name, parentId })).body.id;
  /** Every column of every row. */
  const everything = async () => ({
    bookmarks: await query('select * from bookmarks order by id'),
    folders: await query('select * from folders order by id'),
    tags: await query('select * from tags order by name'),
  });
  const undoIdOf = (answer: Awaited<ReturnType<typeof ask>>): string => answer.headers.get('x-undo-id') ?? 'none';
  const undo = (id: string) => ask('POST', `/api/undo/${id}`);

  it('restores every column of what was deleted, one or many, and answers 404 to a repeat', async () => {
    const folderId = await addFolder('Maps');
    const ids = [await add({ tags: ['b', 'a'], folderId, favorite: true, description: 'x', thumbnail: 'https://example.org/a.png' }), await add()];
    await query(`update bookmarks set checked_at = now(), status = 404, failures = 3, dead = true, check_at = now() + interval '2 days'`);
    const before = await everything();
    const changes = [
      () => ask('DELETE', `/api/bookmarks/${ids[0]}?undo=true`),
      () => ask('POST', '/api/bookmarks/bulk?undo=true', { action: 'delete', ids: [...ids, nobody] }),
    ];
    for (const change of changes) {
      const id = undoIdOf(await change());
      expect(await everything()).not.to.deep.equal(before);
      expect((await undo(id)).body.bookmarks).to.be.above(0);
      expect(await everything()).to.deep.equal(before);
      expect((await undo(id)).status).to.equal(404);
      expect(await everything()).to.deep.equal(before);
    }
  });

  it('gives changed bookmarks their tags, folder and mark back, and leaves what else was edited since', async () => {
    const folderId = await addFolder('Maps');
    const ids = [await add({ tags: ['a'], folderId }), await add({ tags: ['b'], favorite: true })];
    const before = await everything();
    const changes = [
      { action: 'move', folderId: null },
      { action: 'tag', tags: ['a', 'c'] },
      { action: 'untag', tags: ['b'] },
      { action: 'favorite', favorite: true },
    ];
    for (const change of changes) {
      const id = undoIdOf(await ask('POST', '/api/bookmarks/bulk?undo=true', { ...change, ids }));
      expect((await undo(id)).body, change.action).to.deep.equal({ bookmarks: 2, folders: 0 });
      expect((await everything()).bookmarks, change.action).to.deep.equal(before.bookmarks);
    }
    const id = undoIdOf(await ask('POST', '/api/bookmarks/bulk?undo=true', { action: 'untag', tags: ['a'], ids }));
    const other = await addFolder('Other');
    await ask('PATCH', `/api/bookmarks/${ids[0]}`, { title: 'edited', folderId: other, favorite: true });
    await undo(id);
    const first = 'select title, tags, folder_id, favorite from bookmarks order by id limit 1';
    expect(await query(first)).to.deep.equal([{ title: 'edited', tags: ['a'], folder_id: other, favorite: true }]);
    const moved = undoIdOf(await ask('POST', '/api/bookmarks/bulk?undo=true', { action: 'move', folderId: null, ids }));
    await ask('PATCH', `/api/bookmarks/${ids[0]}`, { folderId, tags: ['z'] });
    await undo(moved);
    expect(await query(first)).to.deep.equal([{ title: 'edited', tags: ['z'], folder_id: folderId, favorite: true }]);
  });

  it('takes tags apart that were merged, and brings a deleted or renamed one back', async () => {
    await add({ tags: ['maps'] });
    await add({ tags: ['Karten', 'maps'], url: 'https://example.org/2' });
    await query(`insert into tags (name) values ('unused')`);
    const before = await everything();
    const changes = [
      () => ask('PUT', '/api/tags/Karten?undo=true', { name: 'maps' }),
      () => ask('PUT', '/api/tags/maps?undo=true', { name: 'new' }),
      () => ask('PUT', '/api/tags/unused?undo=true', { name: 'new' }),
      () => ask('PUT', '/api/tags/maps?undo=true', { name: 'maps' }),
      () => ask('DELETE', '/api/tags/maps?undo=true'),
      () => ask('DELETE', '/api/tags/unused?undo=true'),
    ];
    for (const [index, change] of changes.entries()) {
      expect((await undo(undoIdOf(await change()))).status, String(index)).to.equal(200);
      expect(await everything(), String(index)).to.deep.equal(before);
    }
  });

  it('brings a folder back with what was in it', async () => {
    const top = await addFolder('top');
    const middle = await addFolder('middle', top);
    await addFolder('below', middle);
    await add({ folderId: middle });
    const before = await everything();
    const id = undoIdOf(await ask('DELETE', `/api/folders/${middle}?cascade=true&undo=true`));
    expect((await undo(id)).body).to.deep.equal({ bookmarks: 1, folders: 1 });
    expect(await everything()).to.deep.equal(before);
  });

  it('makes no cycle of folders, and puts nothing into one that is gone', async () => {
    const top = await addFolder('top');
    const middle = await addFolder('middle', top);
    const below = await addFolder('below', middle);
    const bookmark = await add({ folderId: middle });
    const ofMiddle = undoIdOf(await ask('DELETE', `/api/folders/${middle}?cascade=true&undo=true`));
    await ask('PATCH', `/api/folders/${below}`, { parentId: null });
    await ask('PATCH', `/api/folders/${top}`, { parentId: below });
    await undo(ofMiddle);
    expect(
      await query('select name, (select name from folders as above where above.id = folders.parent_id) as above from folders order by created_at'),
    ).to.deep.equal([
      { name: 'top', above: 'below' },
      { name: 'middle', above: 'top' },
      { name: 'below', above: null },
    ]);
    const ofBookmark = undoIdOf(await ask('DELETE', `/api/bookmarks/${bookmark}?undo=true`));
    await ask('DELETE', `/api/folders/${middle}`);
    await undo(ofBookmark);
    expect(await query('select folder_id from bookmarks')).to.deep.equal([{ folder_id: null }]);
  });

  it('is there when it was asked for, for a change that was made, and for a day', async () => {
    const id = await add();
    expect((await ask('DELETE', `/api/bookmarks/${id}`)).headers.get('x-undo-id')).to.equal(null);
    expect((await ask('DELETE', `/api/bookmarks/${id}?undo=true`)).status).to.equal(404);
    expect((await ask('DELETE', `/api/bookmarks/${id}?undo=maybe`)).status).to.equal(400);
    expect((await ask('POST', '/api/bookmarks/bulk?undo=true', { action: 'move', ids: [await add()], folderId: nobody })).status).to.equal(400);
    expect(await query('select id from undoable')).to.deep.equal([]);
    const old = undoIdOf(await ask('DELETE', `/api/bookmarks/${await add()}?undo=true`));
    await query(`update undoable set made_at = now() - interval '25 hours'`);
    expect((await undo(old)).status).to.equal(404);
    const newer = undoIdOf(await ask('DELETE', `/api/bookmarks/${await add()}?undo=true`));
    await undoOn(service.database).forgetOld();
    expect(await query('select id from undoable')).to.deep.equal([{ id: newer }]);
    for (const unknown of [nobody, 'x', '%00']) expect((await undo(unknown)).status, unknown).to.equal(404);
  });

  it('happens once where two ask for it at the same time', async () => {
    const id = undoIdOf(await ask('DELETE', `/api/bookmarks/${await add()}?undo=true`));
    const statuses = (await Promise.all([undo(id), undo(id), undo(id)])).map(({ status }) => status);
    expect(statuses.toSorted()).to.deep.equal([200, 404, 404]);
  });
});
