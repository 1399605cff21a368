// Changes beyond replacing one: parts of one, on the condition that nothing has changed, many at once, and tags.
import { expect } from 'chai';
import { unknownId, useService } from './service.ts';

describe('changes of bookmarks', () => {
  const catalogue = useService();
  const read = async (id: string) => (await catalogue.get(`/api/bookmarks/${id}`)).body;
  const etagOf = async (path: string) => (await catalogue.get(path)).headers.get('etag') ?? '';

  describe('PATCH /api/bookmarks/{id}', () => {
    it('changes what is given, and leaves the rest', async () => {
      const folder = await catalogue.folder();
      const before = await catalogue.bookmark({ description: 'd', tags: ['a'], folderId: folder.id, favorite: true });
      const { status, body } = await catalogue.patch(`/api/bookmarks/${before.id}`, { title: ' new ', tags: ['c', 'b'] });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...before, title: 'new', tags: ['b', 'c'] });
      expect(await read(before.id)).to.deep.equal(body);
      expect((await catalogue.patch(`/api/bookmarks/${before.id}`, {})).body).to.deep.equal(body);
    });

    it('takes null for a default, where a member may be null', async () => {
      const folder = await catalogue.folder();
      const before = await catalogue.bookmark({ description: 'd', thumbnail: 'https://x/y.png', tags: ['a'], folderId: folder.id, favorite: true });
      const cleared = { description: null, thumbnail: null, tags: null, folderId: null, favorite: null };
      const { body } = await catalogue.patch(`/api/bookmarks/${before.id}`, cleared);
      expect(body).to.deep.equal({ ...before, description: '', thumbnail: '', tags: [], folderId: null, favorite: false });
      const refused = await catalogue.patch(`/api/bookmarks/${before.id}`, { title: null, url: null });
      expect([refused.status, Object.keys(refused.body.errors)]).to.deep.equal([400, ['title', 'url']]);
    });

    it('checks what it is given as PUT does', async () => {
      const { id } = await catalogue.bookmark();
      for (const [given, member] of [
        [{ title: ' ' }, 'title'],
        [{ url: 'javascript:alert(1)' }, 'url'],
        [{ folderId: unknownId }, 'folderId'],
        [{ tags: 'a' }, 'tags'],
      ] as const) {
        const { status, body } = await catalogue.patch(`/api/bookmarks/${id}`, given);
        expect([status, Object.keys(body.errors)]).to.deep.equal([400, [member]]);
      }
      expect((await catalogue.patch(`/api/bookmarks/${unknownId}`, { title: 'x' })).status).to.equal(404);
      expect((await catalogue.patch(`/api/bookmarks/${id}`, { title: 'merge patch' }, { 'Content-Type': 'application/merge-patch+json' })).status).to.equal(
        200,
      );
    });
  });

  describe('PATCH /api/folders/{id}', () => {
    it('changes what is given, and leaves the rest', async () => {
      const top = await catalogue.folder({ name: 'top' });
      const before = await catalogue.folder({ name: 'below', parentId: top.id, icon: 'star' });
      expect((await catalogue.patch(`/api/folders/${before.id}`, { name: 'new' })).body).to.deep.equal({ ...before, name: 'new' });
      expect((await catalogue.patch(`/api/folders/${before.id}`, { parentId: null, icon: ' ' })).body).to.deep.equal({
        ...before,
        name: 'new',
        parentId: null,
        icon: null,
      });
      expect((await catalogue.get(`/api/folders/${before.id}`)).body).to.deep.equal({ ...before, name: 'new', parentId: null, icon: null });
    });

    it('answers 400 to a parent that is missing, itself or below it, and 404 to an id of nothing', async () => {
      const top = await catalogue.folder();
      const below = await catalogue.folder({ parentId: top.id });
      for (const parentId of [unknownId, top.id, below.id])
        expect((await catalogue.patch(`/api/folders/${top.id}`, { parentId })).body.errors).to.have.key('parentId');
      expect((await catalogue.patch(`/api/folders/${unknownId}`, { name: 'x' })).status).to.equal(404);
    });
  });

  describe('entity tags of one', () => {
    for (const [noun, make, change] of [
      ['bookmarks', () => catalogue.bookmark(), { title: 'new', url: 'https://example.org/' }],
      ['folders', () => catalogue.folder(), { name: 'new' }],
    ] as const)
      describe(noun, () => {
        const pathOf = async () => `/api/${noun}/${String((await make()).id)}`;
        it('answer 304 while nothing has changed', async () => {
          const path = await pathOf();
          const tag = await etagOf(path);
          expect(tag).to.match(/^"[\w-]+"$/);
          for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*'])
            expect((await catalogue.get(path, { 'If-None-Match': known })).status, known).to.equal(304);
          expect((await catalogue.get(path, { 'If-None-Match': '"x"' })).status).to.equal(200);
          const changed = await catalogue.patch(path, change);
          expect((await catalogue.get(path, { 'If-None-Match': tag })).status).to.equal(200);
          expect(await etagOf(path)).to.equal(changed.headers.get('etag'));
        });

        it('let a change through only while nothing has changed: 412', async () => {
          const path = await pathOf();
          const before = await catalogue.get(path);
          const tag = before.headers.get('etag') ?? '';
          for (const [method, send] of Object.entries({ PUT: catalogue.put, PATCH: catalogue.patch, DELETE: catalogue.remove }))
            for (const stale of ['"stale"', `W/${tag}`, '"a", "b"', 'stale', ''])
              expect((await send(path, method === 'DELETE' ? undefined : change, { 'If-Match': stale })).status, `${method} ${stale}`).to.equal(412);
          expect((await catalogue.get(path)).body).to.deep.equal(before.body);
          const patched = await catalogue.patch(path, change, { 'If-Match': `"other", ${tag}` });
          expect(patched.status).to.equal(200);
          expect((await catalogue.put(path, change, { 'If-Match': tag })).status).to.equal(412);
          expect((await catalogue.put(path, change, { 'If-Match': '*' })).status).to.equal(200);
          expect((await catalogue.remove(path, undefined, { 'If-Match': await etagOf(path) })).status).to.equal(204);
          expect((await catalogue.remove(path, undefined, { 'If-Match': '*' })).status).to.equal(404);
        });

        it('let one of two changes through that begin from the same state', async () => {
          const path = await pathOf();
          const tag = await etagOf(path);
          const answers = await Promise.all([1, 2, 3, 4].map(() => catalogue.patch(path, change, { 'If-Match': tag })));
          expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
        });

        it('come with what was created', async () => {
          const body = noun === 'folders' ? { name: 'x' } : { title: 'x', url: 'http://x' };
          const created = await catalogue.post(`/api/${noun}`, body);
          expect(created.headers.get('etag')).to.equal(await etagOf(created.headers.get('location') ?? ''));
        });
      });

    it('refuse a deletion of a folder that is not empty before they are looked at', async () => {
      const { id } = await catalogue.folder();
      await catalogue.bookmark({ folderId: id });
      expect((await catalogue.remove(`/api/folders/${id}`, undefined, { 'If-Match': '"stale"' })).status).to.equal(409);
      expect((await catalogue.remove(`/api/folders/${id}?cascade=true`, undefined, { 'If-Match': '"stale"' })).status).to.equal(412);
    });
  });

  describe('POST /api/bookmarks/bulk', () => {
    const bulk = async (body: object) => {
      const { status, body: answer, text } = await catalogue.post('/api/bookmarks/bulk', body);
      expect(status, text).to.equal(200);
      return answer.updated as number;
    };

    it('moves', async () => {
      const folder = await catalogue.folder();
      const [a, b, c] = [await catalogue.bookmark(), await catalogue.bookmark({ folderId: folder.id }), await catalogue.bookmark()];
      expect(await bulk({ action: 'move', ids: [a.id, b.id, String(a.id).toUpperCase(), unknownId, 'x'], folderId: folder.id })).to.equal(1);
      expect([await read(a.id), await read(b.id), await read(c.id)].map(({ folderId }) => folderId)).to.deep.equal([folder.id, folder.id, null]);
      expect(await bulk({ action: 'move', ids: [a.id, b.id], folderId: null })).to.equal(2);
    });

    it('tags and untags', async () => {
      const [a, b] = [await catalogue.bookmark({ tags: ['x', 'b'] }), await catalogue.bookmark({ tags: ['\u{10000}', '\uffee'] })];
      expect(await bulk({ action: 'tag', ids: [a.id, b.id], tags: ['x', ' a '] })).to.equal(2);
      expect((await read(a.id)).tags).to.deep.equal(['a', 'b', 'x']);
      expect((await read(b.id)).tags).to.deep.equal(['a', 'x', '\uffee', '\u{10000}']);
      expect(await bulk({ action: 'tag', ids: [a.id, b.id], tags: ['x', 'a'] })).to.equal(0);
      expect(await bulk({ action: 'untag', ids: [a.id, b.id], tags: ['x', 'b', 'unknown'] })).to.equal(2);
      expect((await read(a.id)).tags).to.deep.equal(['a']);
      expect((await read(b.id)).tags).to.deep.equal(['a', '\uffee', '\u{10000}']);
      expect((await catalogue.get('/api/tags')).body).to.include.members(['a', 'b', 'x']);
    });

    it('tags none where one would have more than 100 tags', async () => {
      const full = await catalogue.bookmark({ tags: Array.from({ length: 99 }, (_, index) => `${index}`) });
      const other = await catalogue.bookmark();
      const { status, body } = await catalogue.post('/api/bookmarks/bulk', { action: 'tag', ids: [other.id, full.id], tags: ['a', 'b'] });
      expect([status, Object.keys(body.errors)]).to.deep.equal([400, ['tags']]);
      expect((await read(other.id)).tags).to.deep.equal([]);
      expect(await bulk({ action: 'tag', ids: [other.id, full.id], tags: ['a'] })).to.equal(2);
    });

    it('marks favorites', async () => {
      const [a, b] = [await catalogue.bookmark({ favorite: true }), await catalogue.bookmark()];
      expect(await bulk({ action: 'favorite', ids: [a.id, b.id] })).to.equal(1);
      expect(await bulk({ action: 'favorite', ids: [a.id, b.id], favorite: false })).to.equal(2);
      expect((await read(a.id)).favorite).to.equal(false);
    });

    it('deletes', async () => {
      const [a, b] = [await catalogue.bookmark(), await catalogue.bookmark()];
      expect(await bulk({ action: 'delete', ids: [a.id, unknownId] })).to.equal(1);
      expect((await catalogue.get('/api/bookmarks')).body).to.deep.equal([b]);
    });

    it('takes 500 ids', async () => {
      const { id } = await catalogue.bookmark();
      const ids = [id, ...Array.from({ length: 499 }, (_, index) => `id ${index}`)];
      expect(await bulk({ action: 'delete', ids })).to.equal(1);
      const faultsOf = async (wrong: readonly string[]) => (await catalogue.post('/api/bookmarks/bulk', { action: 'delete', ids: wrong })).body.errors;
      expect(await faultsOf([...ids, 'x'])).to.deep.equal({ ids: ['must hold at most 500 ids'] });
      expect(await faultsOf([])).to.deep.equal({ ids: ['must not be empty'] });
    });

    for (const [fault, body] of Object.entries({
      ids: { action: 'delete', ids: [] },
      action: { action: 'burn', ids: ['x'] },
      folderId: { action: 'move', ids: ['x'] },
      tags: { action: 'tag', ids: ['x'], tags: [' '] },
      favorite: { action: 'favorite', ids: ['x'], favorite: 'yes' },
    }))
      it(`answers 400 on ${fault}`, async () => {
        const answer = await catalogue.post('/api/bookmarks/bulk', body);
        expect([answer.status, Object.keys(answer.body.errors)]).to.deep.equal([400, [fault]]);
      });

    it('answers 400 to a move into a folder that is missing, and moves none', async () => {
      const { id, folderId } = await catalogue.bookmark();
      expect((await catalogue.post('/api/bookmarks/bulk', { action: 'move', ids: [id], folderId: unknownId })).body.errors).to.have.key('folderId');
      expect((await read(id)).folderId).to.equal(folderId);
    });
  });

  describe('tags', () => {
    const tags = async () => (await catalogue.get('/api/tags')).body;

    it('are renamed on every bookmark', async () => {
      const a = await catalogue.bookmark({ tags: ['old', 'z'] });
      await catalogue.bookmark({ tags: ['other'] });
      const { status, body } = await catalogue.put('/api/tags/old', { name: ' zz ' });
      expect([status, body]).to.deep.equal([200, { name: 'zz', bookmarks: 1, merged: false }]);
      expect((await read(a.id)).tags).to.deep.equal(['z', 'zz']);
      expect(await tags()).to.deep.equal(['other', 'z', 'zz']);
      expect((await catalogue.get('/api/bookmarks?tag=zz&q=zz')).body).to.have.length(1);
    });

    it('are merged into one that exists', async () => {
      const both = await catalogue.bookmark({ tags: ['JS', 'javascript'] });
      const one = await catalogue.bookmark({ tags: ['JS', 'a'] });
      await catalogue.bookmark({ tags: ['javascript'] });
      expect((await catalogue.put('/api/tags/JS', { name: 'javascript' })).body).to.deep.equal({ name: 'javascript', bookmarks: 3, merged: true });
      expect((await read(both.id)).tags).to.deep.equal(['javascript']);
      expect((await read(one.id)).tags).to.deep.equal(['a', 'javascript']);
      expect(await tags()).to.deep.equal(['a', 'javascript']);
    });

    it('keep their bookmarks under the same name', async () => {
      await catalogue.bookmark({ tags: ['a'] });
      expect((await catalogue.put('/api/tags/a', { name: 'a' })).body).to.deep.equal({ name: 'a', bookmarks: 1, merged: false });
      expect(await tags()).to.deep.equal(['a']);
    });

    it('are deleted, and taken off every bookmark', async () => {
      const a = await catalogue.bookmark({ tags: ['a/b', 'c'] });
      expect((await catalogue.remove(`/api/tags/${encodeURIComponent('a/b')}`)).status).to.equal(204);
      expect((await read(a.id)).tags).to.deep.equal(['c']);
      expect(await tags()).to.deep.equal(['c']);
      expect((await catalogue.remove(`/api/tags/${encodeURIComponent('a/b')}`)).status).to.equal(404);
    });

    it('answer 404 where there is none of that name, whatever the letter case', async () => {
      await catalogue.bookmark({ tags: ['News'] });
      for (const name of ['news', 'x', '%00', '%25']) {
        expect((await catalogue.put(`/api/tags/${name}`, { name: 'y' })).status).to.equal(404);
        expect((await catalogue.remove(`/api/tags/${name}`)).status).to.equal(404);
      }
      expect((await catalogue.put('/api/tags/News', { name: ' ' })).status).to.equal(400);
      expect(await tags()).to.deep.equal(['News']);
    });
  });
});
