// Folders: the tree that they form, and what becomes of it when one is deleted.
import { expect } from 'chai';
import { unknownId, useService } from './service.ts';

describe('folders', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const catalogue = useService({ clock: () => clock.now });
  const folders = async () => (await catalogue.get('/api/folders')).body as { id: string; name: string; parentId: string | null }[];
  const parents = async () => Object.fromEntries((await folders()).map(({ id, parentId }) => [id, parentId]));

  describe('POST /api/folders', () => {
    it('answers 201 with the folder and its Location', async () => {
      const parent = await catalogue.folder();
      const { status, headers, body } = await catalogue.post('/api/folders', { name: ' Recipes ', parentId: parent.id, icon: ' 🍲 ' });
      expect(status).to.equal(201);
      expect(body).to.deep.equal({ id: body.id, name: 'Recipes', parentId: parent.id, icon: '🍲' });
      expect(headers.get('location')).to.equal(`/api/folders/${body.id}`);
      expect((await catalogue.get(`/api/folders/${body.id}`)).body).to.deep.equal(body);
    });

    it('needs the name alone', async () => {
      expect(await catalogue.folder({ name: 'x' })).to.include({ name: 'x', parentId: null, icon: null });
    });

    for (const icon of ['', '  ', null, undefined])
      it(`stores the icon ${JSON.stringify(icon)} as null`, async () => {
        expect((await catalogue.folder({ icon })).icon).to.equal(null);
      });

    it('takes name and icon of 200 characters', async () => {
      const folder = await catalogue.folder({ name: '\u{1F600}'.repeat(200), icon: 'i'.repeat(200) });
      expect([...folder.name]).to.have.length(200);
    });

    it('takes a name that another folder has', async () => {
      await catalogue.folder({ name: 'same' });
      expect((await catalogue.folder({ name: 'same' })).name).to.equal('same');
    });

    const refusals: readonly (readonly [what: string, given: object, member: string])[] = [
      ['a missing name', {}, 'name'],
      ['a blank name', { name: '  ' }, 'name'],
      ['a name of 201 characters', { name: 'n'.repeat(201) }, 'name'],
      ['an icon of 201 characters', { name: 'n', icon: 'i'.repeat(201) }, 'icon'],
      ['an icon that is a number', { name: 'n', icon: 1 }, 'icon'],
      ['an unknown parentId', { name: 'n', parentId: unknownId }, 'parentId'],
      ['an empty parentId', { name: 'n', parentId: '' }, 'parentId'],
      ['a parentId that is no id', { name: 'n', parentId: 'x' }, 'parentId'],
    ];
    for (const [what, given, member] of refusals)
      it(`answers 400 to ${what}`, async () => {
        const refused = await catalogue.post('/api/folders', given);
        expect([refused.status, Object.keys(refused.body.errors)]).to.deep.equal([400, [member]]);
        expect(await folders()).to.deep.equal([]);
      });
  });

  it('answers 404 to an id that names no folder', async () => {
    for (const id of [unknownId, 'x', '%00']) {
      const { status, body } = await catalogue.get(`/api/folders/${id}`);
      expect([status, body.title]).to.deep.equal([404, 'No such folder']);
    }
  });

  describe('PUT /api/folders/{id}', () => {
    it('answers 200 with the folder, and moves it to the root without a parentId', async () => {
      const parent = await catalogue.folder();
      const { id } = await catalogue.folder({ parentId: parent.id, icon: 'i' });
      const { status, body } = await catalogue.put(`/api/folders/${id}`, { name: ' new ' });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ id, name: 'new', parentId: null, icon: null });
      expect((await catalogue.get(`/api/folders/${id}`)).body).to.deep.equal(body);
    });

    it('takes what is below it along', async () => {
      const [a, b] = [await catalogue.folder(), await catalogue.folder()];
      const below = await catalogue.folder({ parentId: a.id });
      await catalogue.put(`/api/folders/${a.id}`, { name: 'a', parentId: b.id });
      expect(await parents()).to.deep.equal({ [a.id]: b.id, [b.id]: null, [below.id]: a.id });
    });

    it('answers 400 on parentId to its own id, and to a folder below it', async () => {
      const a = await catalogue.folder();
      const b = await catalogue.folder({ parentId: a.id });
      const c = await catalogue.folder({ parentId: b.id });
      for (const parentId of [a.id, b.id, c.id]) {
        const refused = await catalogue.put(`/api/folders/${a.id}`, { name: 'a', parentId });
        expect([refused.status, Object.keys(refused.body.errors)]).to.deep.equal([400, ['parentId']]);
      }
      expect(await parents()).to.deep.equal({ [a.id]: null, [b.id]: a.id, [c.id]: b.id });
    });

    it('looks at the fields, then at the parent, then at the id, then for a cycle', async () => {
      const put = async (id: string, body: object) => (await catalogue.put(`/api/folders/${id}`, body)).body;
      expect((await put(unknownId, { name: '', parentId: unknownId })).errors).to.have.all.keys('name');
      expect((await put(unknownId, { name: 'n', parentId: unknownId })).errors).to.have.all.keys('parentId');
      expect((await put(unknownId, { name: 'n' })).status).to.equal(404);
      const { id } = await catalogue.folder();
      expect((await put(unknownId, { name: 'n', parentId: id })).status).to.equal(404);
      expect((await put(id, { name: 'n', parentId: id })).errors).to.have.all.keys('parentId');
    });

    it('makes no cycle of moves that meet', async () => {
      for (let round = 0; round < 10; round++) {
        const ring = await Promise.all(Array.from({ length: 4 }, () => catalogue.folder()));
        const moves = await Promise.all(
          ring.map(({ id }, index) => catalogue.put(`/api/folders/${id}`, { name: 'moved', parentId: ring[(index + 1) % ring.length].id })),
        );
        expect(moves.map(({ status }) => status).sort()).to.deep.equal([200, 200, 200, 400]);
        const above = await parents();
        for (const { id } of ring) {
          const path = new Set<string>();
          for (let at: string | null = id; at !== null; at = above[at] ?? null) {
            expect(path, 'a folder above itself').not.to.include(at);
            path.add(at);
          }
        }
      }
    });
  });

  describe('DELETE /api/folders/{id}', () => {
    it('answers 204 to an empty one, and then 404', async () => {
      const { id } = await catalogue.folder();
      expect((await catalogue.remove(`/api/folders/${id}`)).status).to.equal(204);
      expect((await catalogue.remove(`/api/folders/${id}`)).status).to.equal(404);
    });

    for (const query of ['', '?cascade=false', '?cascade=FALSE'])
      it(`answers 409 to one that holds something, with the query '${query}'`, async () => {
        const holdsBookmark = await catalogue.folder();
        await catalogue.bookmark({ folderId: holdsBookmark.id });
        const holdsFolder = await catalogue.folder();
        await catalogue.folder({ parentId: holdsFolder.id });
        for (const { id } of [holdsBookmark, holdsFolder]) {
          const { status, body } = await catalogue.remove(`/api/folders/${id}${query}`);
          expect([status, body.title]).to.deep.equal([409, 'The folder is not empty']);
        }
        expect(await folders()).to.have.length(3);
      });

    for (const cascade of ['true', 'TRUE', 'True'])
      it(`with cascade=${cascade} releases its bookmarks and raises its subfolders, those directly in it alone`, async () => {
        const top = await catalogue.folder();
        const middle = await catalogue.folder({ parentId: top.id });
        const below = await catalogue.folder({ parentId: middle.id });
        const deep = await catalogue.folder({ parentId: below.id });
        const direct = await catalogue.bookmark({ folderId: middle.id });
        const deeper = await catalogue.bookmark({ folderId: below.id });
        expect((await catalogue.remove(`/api/folders/${middle.id}?cascade=${cascade}`)).status).to.equal(204);
        expect(await parents()).to.deep.equal({ [top.id]: null, [below.id]: top.id, [deep.id]: below.id });
        expect((await catalogue.get(`/api/bookmarks/${direct.id}`)).body.folderId).to.equal(null);
        expect((await catalogue.get(`/api/bookmarks/${deeper.id}`)).body.folderId).to.equal(below.id);
      });

    it('raises the subfolders of one at the root to the root', async () => {
      const top = await catalogue.folder();
      const below = await catalogue.folder({ parentId: top.id });
      await catalogue.remove(`/api/folders/${top.id}?cascade=true`);
      expect(await parents()).to.deep.equal({ [below.id]: null });
    });

    for (const cascade of ['1', 'yes', 'true%20', 'true&cascade=true'])
      it(`answers 400 to cascade=${cascade}, before it looks for the folder`, async () => {
        const refused = await catalogue.remove(`/api/folders/${unknownId}?cascade=${cascade}`);
        expect([refused.status, Object.keys(refused.body.errors)]).to.deep.equal([400, ['cascade']]);
      });

    it('answers 404 before 409', async () => {
      expect((await catalogue.remove(`/api/folders/${unknownId}?cascade=false`)).status).to.equal(404);
      expect((await catalogue.remove(`/api/folders/${unknownId}?cascade=`)).status).to.equal(404);
    });

    it('leaves nothing in a folder that is gone, whatever is put into it meanwhile', async () => {
      for (let round = 0; round < 10; round++) {
        const { id } = await catalogue.folder();
        const answers = await Promise.all([
          catalogue.post('/api/bookmarks', { title: 't', url: 'https://example.org/', folderId: id, tags: ['x'] }),
          catalogue.post('/api/folders', { name: 'below', parentId: id }),
          catalogue.remove(`/api/folders/${id}?cascade=true`),
          catalogue.post('/api/bookmarks', { title: 't', url: 'https://example.org/', folderId: id, tags: ['y'] }),
          catalogue.post('/api/folders', { name: 'below', parentId: id }),
        ]);
        for (const { status } of answers) expect(status).to.be.oneOf([201, 204, 400]);
      }
      const lost = `select 1 from bookmarks where folder_id is not null and folder_id not in (select id from folders)
        union all select 1 from folders where parent_id is not null and parent_id not in (select id from folders)`;
      expect(await catalogue.query(lost)).to.have.length(0);
    });
  });
});
