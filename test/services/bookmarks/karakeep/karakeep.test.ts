// floccus over Karakeep's REST: a browser's bookmarks go up, change on both sides, and come down again.
import { expect } from 'chai';
import { apiKey, call, startService, type TestService, unknownId, useService } from '../service.ts';
import { createFloccus, HttpError, type Tree } from './floccus.ts';

describe("Karakeep's REST for floccus", () => {
  const catalogue = useService();
  let service: TestService;
  before(async () => {
    service = await startService({ databaseUrl: catalogue.databaseUrl, environment: { Compatibility__Karakeep: 'on' } });
  });
  after(() => service.close());
  const floccus = () => createFloccus(`${service.url}/karakeep`, apiKey);
  /** Paths of the tree, with titles and addresses. */
  const paths = ({ title, folders, bookmarks }: Tree): string[] => [
    ...bookmarks.map((bookmark) => `${title}/${bookmark.title} ${bookmark.url}`),
    ...folders.flatMap(paths).map((path) => `${title}/${path}`),
  ];
  const tree = async () => paths(await floccus().getBookmarksTree('Floccus')).sort();
  const root = async () => (await floccus().getBookmarksTree('Floccus')).id;

  it('creates its folder on the first sync, and finds it on the next', async () => {
    expect(await root()).to.equal(await root());
    expect((await catalogue.get('/api/folders')).body).to.have.length(1);
  });

  it('takes bookmarks and folders up, and answers them as a tree', async () => {
    const top = await root();
    const folder = await floccus().createFolder({ title: 'Maps', parentId: top });
    await floccus().createBookmark({ title: 'Rivers', url: 'https://a.example/rivers', parentId: folder });
    await floccus().createBookmark({ title: '', url: 'https://a.example/untitled', parentId: top });
    await floccus().createBookmark({ title: 't'.repeat(600), url: 'https://a.example/long', parentId: top });
    expect(await tree()).to.deep.equal(
      [
        'Floccus/Maps/Rivers https://a.example/rivers',
        'Floccus/https://a.example/untitled https://a.example/untitled',
        `Floccus/${'t'.repeat(500)} https://a.example/long`,
      ].sort(),
    );
    const { body } = await catalogue.get(`/api/bookmarks?folderId=${top}&subfolders=true`);
    expect(body).to.have.length(3);
  });

  it('keeps the same address in two folders as two bookmarks', async () => {
    const top = await root();
    const [a, b] = [await floccus().createFolder({ title: 'a', parentId: top }), await floccus().createFolder({ title: 'b', parentId: top })];
    for (const parentId of [a, b]) await floccus().createBookmark({ title: 'x', url: 'https://a.example/', parentId });
    expect(await tree()).to.deep.equal(['Floccus/a/x https://a.example/', 'Floccus/b/x https://a.example/']);
  });

  it('goes on with a bookmark of an interrupted sync, which is in no folder yet', async () => {
    const top = await root();
    const { id } = await catalogue.bookmark({ title: 'half', url: 'https://a.example/half', description: 'kept' });
    await floccus().createBookmark({ title: 'whole', url: 'https://a.example/half', parentId: top });
    const { body } = await catalogue.get('/api/bookmarks');
    expect(body).to.have.length(1);
    expect(body[0]).to.deep.include({ id, title: 'whole', folderId: top, description: 'kept' });
  });

  it('changes and moves a bookmark, and keeps what floccus does not know', async () => {
    const top = await root();
    const folder = await floccus().createFolder({ title: 'a', parentId: top });
    const id = await floccus().createBookmark({ title: 'x', url: 'https://a.example/', parentId: top });
    await catalogue.patch(`/api/bookmarks/${id.split(';')[0]}`, { tags: ['mine'], favorite: true });
    for (let time = 0; time < 10; time += 1) {
      const moved = await floccus().updateBookmark({ id, title: 'y', url: 'https://a.example/y', parentId: folder });
      expect(await tree()).to.deep.equal(['Floccus/a/y https://a.example/y']);
      expect(await floccus().updateBookmark({ id: moved, title: 'y', url: 'https://a.example/y', parentId: top })).to.equal(id);
      expect(await tree()).to.deep.equal(['Floccus/y https://a.example/y']);
    }
    expect((await catalogue.get('/api/bookmarks')).body[0]).to.deep.include({ tags: ['mine'], favorite: true });
  });

  it('renames and moves a folder with its content', async () => {
    const top = await root();
    const [a, b] = [await floccus().createFolder({ title: 'a', parentId: top }), await floccus().createFolder({ title: 'b', parentId: top })];
    await floccus().createBookmark({ title: 'x', url: 'https://a.example/', parentId: a });
    await floccus().updateFolder({ id: a, title: 'c', parentId: b });
    expect(await tree()).to.deep.equal(['Floccus/b/c/x https://a.example/']);
  });

  it('removes a bookmark, and a folder with all in it', async () => {
    const top = await root();
    const [a, kept] = [
      await floccus().createFolder({ title: 'a', parentId: top }),
      await floccus().createBookmark({ title: 'k', url: 'https://k/', parentId: top }),
    ];
    const below = await floccus().createFolder({ title: 'below', parentId: a });
    for (const parentId of [a, below])
      for (let index = 0; index < 5; index += 1) await floccus().createBookmark({ title: `${index}`, url: `https://x/${index}`, parentId });
    const gone = await floccus().createBookmark({ title: 'g', url: 'https://g/', parentId: top });
    await floccus().removeBookmark(gone);
    await floccus().removeBookmark(gone);
    await floccus().removeFolder(a);
    expect(await tree()).to.deep.equal(['Floccus/k https://k/']);
    expect((await catalogue.get('/api/bookmarks')).body)
      .to.have.length(1)
      .and.to.have.nested.property('[0].id', kept.split(';')[0]);
    expect((await catalogue.get('/api/folders')).body).to.have.length(1);
  });

  it('pages a folder of any size', async () => {
    const top = await root();
    await catalogue.query(
      `insert into bookmarks (id, title, url, url_sha256, description, thumbnail, tags, favorite, date_added, folder_id)
      select gen_random_uuid(), n, 'https://example.org/' || n, sha256(n::text::bytea), '', '', '{}', false, now(), $1 from generate_series(1, 1201) n`,
      [top],
    );
    expect(new Set(await tree()).size).to.equal(1201);
  });

  it('refuses a wrong key, on reading too', async () => {
    for (const key of ['wrong', '']) {
      const failure = await createFloccus(`${service.url}/karakeep`, key)
        .getBookmarksTree('Floccus')
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(HttpError).with.property('status', 401);
    }
  });

  const send = (method: string, path: string, body?: unknown) =>
    call(service.url, method, `/karakeep/api/v1${path}`, { ...(body !== undefined && { body }), headers: { Authorization: `Bearer ${apiKey}` } });

  it('keeps whether a link is a favorite, as other clients say', async () => {
    const { body: link } = await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', favourited: true });
    expect(link).to.deep.include({ favourited: true, tags: [], assets: [] });
    const patched = async (body: unknown) => (await send('PATCH', `/bookmarks/${link.id}`, body)).body.favourited;
    expect([await patched({ title: 'x' }), await patched({ favourited: false }), await patched({ favourited: true })]).to.deep.equal([true, false, true]);
    expect((await catalogue.get('/api/bookmarks')).body[0]).to.include({ favorite: true, title: 'x' });
  });

  it('keeps the note and the time of a link, as other clients say', async () => {
    const createdAt = '2020-01-02T03:04:05.000Z';
    const { body: link } = await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', note: 'By year', createdAt, archived: false });
    expect(link).to.include({ note: 'By year', createdAt });
    expect((await send('PATCH', `/bookmarks/${link.id}`, { title: 'x' })).body).to.include({ note: 'By year', createdAt });
    const changed = { note: 'By month', createdAt: '2021-01-02T03:04:05.000Z' };
    expect((await send('PATCH', `/bookmarks/${link.id}`, { ...changed, summary: null })).body).to.include({ ...changed, title: 'x' });
    expect((await catalogue.get('/api/bookmarks')).body[0]).to.include({ description: 'By month', dateAdded: changed.createdAt });
    expect((await send('PATCH', `/bookmarks/${link.id}`, { note: '' })).body.note).to.equal(null);
  });

  it('takes what a client says of a link that is there already, and keeps the rest', async () => {
    const { body: link } = await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', title: 'x', note: 'By year', favourited: true });
    const again = async (body: object) => (await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', ...body })).body;
    expect(await again({})).to.deep.equal({ ...link, alreadyExists: true });
    expect(await again({ title: '', note: 'By month' })).to.include({ id: link.id, title: 'x', note: 'By month', favourited: true });
    expect(await again({ title: 'y', favourited: false })).to.include({ title: 'y', note: 'By month', favourited: false });
    expect((await catalogue.get('/api/bookmarks')).body).to.have.length(1);
  });

  it('answers one link and one list, as other clients ask', async () => {
    const { body: link } = await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', title: 'x' });
    const { alreadyExists, ...bookmark } = link;
    expect([alreadyExists, (await send('GET', `/bookmarks/${link.id}?includeContent=false`)).body]).to.deep.equal([false, bookmark]);
    const { body: list } = await send('POST', '/lists', { name: 'Maps', icon: '🗺️' });
    expect((await send('GET', `/lists/${list.id}`)).body).to.deep.equal(list);
  });

  it('answers 400 to what has no place, and changes nothing', async () => {
    const { body: link } = await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/', title: 'x' });
    for (const lost of [{ archived: true }, { summary: 's' }, { description: 'd' }, { author: 'a' }, { note: 'n'.repeat(10_001) }, { createdAt: '2020' }]) {
      const { status, body } = await send('PATCH', `/bookmarks/${link.id}`, { title: 'y', ...lost });
      expect([status, Object.keys(body.errors)]).to.deep.equal([400, Object.keys(lost)]);
    }
    expect((await send('POST', '/bookmarks', { type: 'link', url: 'https://a.example/2', archived: true })).status).to.equal(400);
    const { body: list } = await send('POST', '/lists', { name: 'Maps', icon: '🗺️', description: '' });
    for (const lost of [{ description: 'd' }, { query: 'is:fav' }, { public: false }]) {
      const { status, body } = await send('PATCH', `/lists/${list.id}`, { name: 'y', ...lost });
      expect([status, Object.keys(body.errors)]).to.deep.equal([400, Object.keys(lost)]);
    }
    expect((await send('PATCH', `/lists/${list.id}`, { public: true })).body).to.deep.equal(list);
    const { body: stored } = await catalogue.get('/api/bookmarks');
    expect(stored).to.have.length(1).and.to.have.nested.property('[0].title', 'x');
  });

  it('answers 404 to ids of nothing, and 400 to what cannot be stored', async () => {
    for (const [method, path, body] of [
      ['GET', `/lists/${unknownId}/bookmarks`],
      ['GET', '/lists/x'],
      ['GET', '/bookmarks/x'],
      ['GET', '/bookmarks/x/lists'],
      ['PATCH', '/lists/x', { name: 'y' }],
      ['PATCH', '/bookmarks/x', { title: 'y' }],
      ['DELETE', '/lists/x'],
      ['DELETE', '/bookmarks/x'],
      ['PUT', `/lists/x/bookmarks/${unknownId}`],
    ] as const)
      expect((await send(method, path, body)).status, `${method} ${path}`).to.equal(404);
    expect((await send('POST', '/bookmarks', { url: 'javascript:1' })).status).to.equal(400);
    expect((await send('POST', '/bookmarks', { type: 'text', text: 'a note' })).status).to.equal(400);
    expect((await send('POST', '/lists', { name: 'x', parentId: unknownId })).status).to.equal(400);
    expect((await send('POST', '/lists', { name: 'x', type: 'smart', query: 'is:fav' })).status).to.equal(400);
  });

  it('is off unless it is switched on', async () => {
    expect((await call(catalogue.url, 'GET', '/karakeep/api/v1/lists', { headers: { Authorization: `Bearer ${apiKey}` } })).status).to.equal(404);
    expect((await catalogue.get('/swagger/v1/swagger.json')).body.paths).to.not.have.property('/karakeep/api/v1/lists');
  });
});
