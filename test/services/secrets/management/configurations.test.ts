// Configuration entries on the management plane.
import { expect } from 'chai';
import { manage, member, newApplication, useService } from '../service.ts';

describe('configuration entries', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now });
  let slug: string;
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    ({ slug } = await newApplication(running.url));
    await manage(running.url, 'POST', `/${slug}/environments`, { name: 'Alpha' });
  });
  const add = (entry: Readonly<Record<string, unknown>>) =>
    manage(running.url, 'POST', `/${slug}/configurations`, { environmentSlug: 'local', key: 'key', value: 'value', ...entry });
  const list = () => manage(running.url, 'GET', `/${slug}/configurations`);
  const at = (key: string, environment = 'local') => `/${slug}/configurations/${environment}/${encodeURIComponent(key)}`;

  describe('POST /api/management/applications/{slug}/configurations', () => {
    it('answers 201 with the entry', async () => {
      const created = await add({ key: 'Section:Name', value: ' kept as it is ', description: 'why' });
      expect(created.status).to.equal(201);
      expect(created.body).to.deep.equal({
        id: member(created, 'id'),
        environmentSlug: 'local',
        key: 'Section:Name',
        value: ' kept as it is ',
        description: 'why',
        createdAt: '2026-03-15T12:00:00.000Z',
        updatedAt: '2026-03-15T12:00:00.000Z',
      });
    });

    it('answers 409 when the key exists in that environment, and takes it in another', async () => {
      await add({});
      expect((await add({ value: 'other' })).body).to.include({ status: 409, type: 'urn:signalbox:problem:configuration-taken' });
      expect((await add({ environmentSlug: 'alpha' })).status).to.equal(201);
      expect((await add({ key: 'KEY' })).status).to.equal(201);
    });

    for (const [entry, field] of [
      [{ environmentSlug: undefined }, 'environmentSlug'],
      [{ environmentSlug: '' }, 'environmentSlug'],
      [{ environmentSlug: ' ' }, 'environmentSlug'],
      [{ key: '.' }, 'key'],
      [{ key: '..' }, 'key'],
      [{ key: '' }, 'key'],
      [{ key: ' ' }, 'key'],
      [{ key: 'k'.repeat(501) }, 'key'],
      [{ key: 'a\0' }, 'key'],
      [{ value: undefined }, 'value'],
      [{ value: '' }, 'value'],
      [{ value: '\n' }, 'value'],
      [{ value: 'ä'.repeat(32_769) }, 'value'],
      [{ value: 'a\0' }, 'value'],
      [{ description: 'd'.repeat(1001) }, 'description'],
    ] as const)
      it(`answers 400 to ${JSON.stringify(entry).slice(0, 30)}`, async () => {
        const refused = await add(entry);
        expect(refused.status).to.equal(400);
        expect(Object.keys(Object(member(refused, 'errors')))).to.deep.equal([field]);
      });

    it('tells an empty environmentSlug together with the other faults', async () => {
      const refused = await add({ environmentSlug: '', key: '', value: 5 });
      expect(refused.body).to.have.deep.nested.property('errors', {
        environmentSlug: ['must not be empty'],
        key: ['must not be empty'],
        value: ['must be a string, not a number'],
      });
    });

    it('takes a key of 500 characters and a value of 64 KiB', async () => {
      expect((await add({ key: '😀'.repeat(500), value: 'ä'.repeat(32_768) })).status).to.equal(201);
    });

    it('answers 404 to an unknown application or environment, after 400', async () => {
      const entry = { environmentSlug: 'nowhere', key: 'k', value: 'v' };
      expect(member(await manage(running.url, 'POST', '/nobody/configurations', entry), 'title')).to.equal('No such application');
      expect(member(await add(entry), 'title')).to.equal('No such environment');
      expect((await add({ ...entry, value: '' })).status).to.equal(400);
    });
  });

  describe('GET /api/management/applications/{slug}/configurations', () => {
    it('answers 200 with all entries across environments, by environment and then key', async () => {
      for (const [environmentSlug, key] of [
        ['local', 'b'],
        ['alpha', 'z'],
        ['local', 'B'],
        ['local', 'a'],
      ])
        await add({ environmentSlug, key });
      const { status, body } = await list();
      expect(status).to.equal(200);
      const places = [body].flat().map((entry) => `${Reflect.get(Object(entry), 'environmentSlug')} ${Reflect.get(Object(entry), 'key')}`);
      expect(places).to.deep.equal(['alpha z', 'local B', 'local a', 'local b']);
      for (const entry of [body].flat()) expect(entry).to.have.all.keys('id', 'environmentSlug', 'key', 'value', 'description', 'createdAt', 'updatedAt');
    });

    it('answers 404 to an unknown application', async () => {
      expect((await manage(running.url, 'GET', '/nobody/configurations')).status).to.equal(404);
    });
  });

  describe('PUT /api/management/applications/{slug}/configurations/{environmentSlug}/{key}', () => {
    it('answers 200 with the updated entry', async () => {
      const created = await add({ description: 'why' });
      clock.now = new Date('2026-03-16T00:00:00Z');
      const { status, body } = await manage(running.url, 'PUT', at('key'), { value: 'new', description: 'because' });
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ ...Object(created.body), value: 'new', description: 'because', updatedAt: '2026-03-16T00:00:00.000Z' });
      expect((await list()).body).to.deep.equal([body]);
    });

    it('keeps a description that is omitted, and clears it for null', async () => {
      await add({ description: 'why' });
      expect((await manage(running.url, 'PUT', at('key'), { value: '1' })).body).to.include({ description: 'why' });
      expect((await manage(running.url, 'PUT', at('key'), { value: '2', description: null })).body).to.include({ description: null });
    });

    it('answers 400 without a value, before it looks for the entry', async () => {
      expect((await manage(running.url, 'PUT', at('none'), { description: 'x' })).body).to.have.nested.property('errors.value[0]', 'is required');
    });

    it('answers 404 when the application, the environment or the entry is unknown', async () => {
      await add({});
      expect((await manage(running.url, 'PUT', '/nobody/configurations/local/key', { value: 'x' })).status).to.equal(404);
      expect((await manage(running.url, 'PUT', at('key', 'alpha'), { value: 'x' })).body).to.include({ title: 'No such configuration entry' });
      expect((await manage(running.url, 'PUT', at('none'), { value: 'x' })).status).to.equal(404);
      expect((await manage(running.url, 'PUT', at('\0'), { value: 'x' })).status).to.equal(404);
    });
  });

  describe('DELETE /api/management/applications/{slug}/configurations/{environmentSlug}/{key}', () => {
    it('answers 204, and the entry is gone', async () => {
      await add({});
      await add({ environmentSlug: 'alpha' });
      const { status, text } = await manage(running.url, 'DELETE', at('key'));
      expect([status, text]).to.deep.equal([204, '']);
      expect((await list()).body).to.have.length(1);
    });

    it('answers 404 when the application, the environment or the entry is unknown', async () => {
      expect((await manage(running.url, 'DELETE', '/nobody/configurations/local/key')).status).to.equal(404);
      expect((await manage(running.url, 'DELETE', at('key', 'nowhere'))).status).to.equal(404);
      expect((await manage(running.url, 'DELETE', at('key'))).status).to.equal(404);
    });
  });

  for (const key of ['Section:Name', 'a/b/c', 'with space', '100%', '%2F', 'a%20b', 'ü😀', '?x=1#y'])
    it(`reaches the key ${key} by its percent-encoded form`, async () => {
      await add({ key });
      expect((await manage(running.url, 'PUT', at(key), { value: 'new' })).body).to.include({ key, value: 'new' });
      expect((await manage(running.url, 'DELETE', at(key))).status).to.equal(204);
    });
});
