// The overview of secrets: coverage of environments, what expires, and the audit.
import { expect } from 'chai';
import {
  type Answer,
  call,
  adminToken,
  consume,
  manage,
  member,
  newApplication,
  putSecret,
  secretValue,
  type TestApplication,
  useService,
} from '../service.ts';
import { eventually } from '../../../support/wait.ts';

const start = new Date('2026-03-15T12:00:00.000Z');
const days = (number: number) => new Date(start.getTime() + number * 86_400_000).toISOString();

describe('the overview of secrets', () => {
  const clock = { now: start };
  const running = useService({ clock: () => clock.now });
  let application: TestApplication;
  beforeEach(async () => {
    clock.now = start;
    application = await newApplication(running.url);
  });
  const get = (path: string): Promise<Answer> => call(running.url, { path: `/api/management${path}`, headers: { Authorization: `Bearer ${adminToken}` } });
  const put = (name: string, item: Readonly<Record<string, unknown>> = {}) =>
    putSecret(running.url, application.slug, name, { value: secretValue(name), ...item });
  const items = <Item>(answer: Answer) => member(answer, 'items') as Item[];

  describe('GET /api/management/applications/{slug}/coverage', () => {
    type Place = {
      environment: string;
      version: number | null;
      newestVersion: number | null;
      expiresAt: string | null;
      lastReadAt: string | null;
      inheritedFrom: string | null;
      createdAt: string | null;
    };
    const coverage = (query = '') => get(`/applications/${application.slug}/coverage${query}`);
    const placesOf = async (name: string) => items<{ name: string; environments: Place[] }>(await coverage()).find((one) => one.name === name)?.environments;

    it('says of each secret and environment which version is served, its age and expiry, and never a value', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Production' });
      await put('a', { expiresAt: days(5) });
      await put('a', { isEnabled: false });
      await manage(running.url, 'POST', `/${application.slug}/secrets`, { name: 'empty' });
      const nothing = { version: null, newestVersion: null, createdAt: null, expiresAt: null, lastReadAt: null, inheritedFrom: null };
      const answer = await coverage();
      expect(answer.body).to.deep.equal({
        items: [
          {
            name: 'a',
            environments: [
              { ...nothing, environment: 'local', version: 1, newestVersion: 2, createdAt: days(0), expiresAt: days(5) },
              { ...nothing, environment: 'production' },
            ],
          },
          {
            name: 'empty',
            environments: [
              { ...nothing, environment: 'local' },
              { ...nothing, environment: 'production' },
            ],
          },
        ],
        next: null,
      });
    });

    it('says when a secret was last read where it was asked for, to the minute, also by inheritance and in a list', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Staging' });
      await manage(running.url, 'PUT', `/${application.slug}/environments/staging`, { inherits: 'local' });
      await put('a');
      await put('b');
      await consume(running.url, application.key, '/secrets/a?environment=staging');
      await consume(running.url, application.key, '/secrets?environment=local&values=true');
      await consume(running.url, application.key, '/secrets/b?environment=moon');
      await eventually(async () => {
        const [local, staging] = (await placesOf('a')) ?? [];
        expect(local).to.include({ lastReadAt: days(0), inheritedFrom: null });
        expect(staging).to.include({ lastReadAt: days(0), inheritedFrom: 'local', newestVersion: null, version: 1 });
        expect((await placesOf('b'))?.map(({ lastReadAt }) => lastReadAt)).to.deep.equal([days(0), null]);
      });
      clock.now = new Date(days(1));
      await consume(running.url, application.key, '/secrets/a?environment=staging');
      await eventually(async () => expect((await placesOf('a'))?.[1]).to.include({ lastReadAt: days(1) }));
    });

    it('is paged by name', async () => {
      for (const name of ['a', 'b', 'c']) await put(name);
      const first = await coverage('?limit=2');
      expect(items<{ name: string }>(first).map(({ name }) => name)).to.deep.equal(['a', 'b']);
      const second = await coverage(`?limit=2&after=${String(member(first, 'next'))}`);
      expect(items<{ name: string }>(second).map(({ name }) => name)).to.deep.equal(['c']);
      expect(member(second, 'next')).to.equal(null);
      expect((await coverage('?after=x')).status).to.equal(400);
      expect((await get('/applications/none/coverage')).status).to.equal(404);
    });
  });

  describe('GET /api/management/expiring', () => {
    type Item = { application: string; secret: string; version: number; expiresAt: string };
    const expiring = async (query = '') => items<Item>(await get(`/expiring?limit=200${query}`)).filter((item) => item.application === application.slug);

    it('lists versions that expire within the time, those first that expire first', async () => {
      await put('later', { expiresAt: days(20) });
      await put('sooner', { expiresAt: days(2) });
      await put('far', { expiresAt: days(31) });
      await put('over', { expiresAt: days(-1) });
      await put('off', { expiresAt: days(2), isEnabled: false });
      expect(await expiring()).to.deep.equal([
        { application: application.slug, environment: 'local', secret: 'sooner', version: 1, expiresAt: days(2) },
        { application: application.slug, environment: 'local', secret: 'later', version: 1, expiresAt: days(20) },
      ]);
      expect((await expiring('&within=48h')).map(({ secret }) => secret)).to.deep.equal(['sooner']);
      expect((await expiring('&within=40d')).map(({ secret }) => secret)).to.deep.equal(['sooner', 'later', 'far']);
    });

    it('leaves out a version that a newer one replaces by then, and no other', async () => {
      await put('replaced', { expiresAt: days(2) });
      await put('replaced');
      await put('planned', { expiresAt: days(2) });
      await put('planned', { notBefore: days(1) });
      await put('too late', { expiresAt: days(2) });
      await put('too late', { notBefore: days(3) });
      await put('disabled', { expiresAt: days(2) });
      await put('disabled', { isEnabled: false });
      expect((await expiring()).map(({ secret }) => secret)).to.have.members(['too late', 'disabled']);
    });

    it('is paged, hides deleted applications, and refuses what is no time', async () => {
      for (const name of ['a', 'b', 'c']) await put(name, { expiresAt: days(1) });
      const first = await get('/expiring?limit=1&within=1d');
      const second = await get(`/expiring?limit=200&within=1d&after=${String(member(first, 'next'))}`);
      const all = await get('/expiring?limit=200&within=1d');
      expect([...items(first), ...items(second)]).to.deep.equal(items(all));
      await manage(running.url, 'DELETE', `/${application.slug}`);
      expect(await expiring()).to.deep.equal([]);
      for (const within of ['30', 'd', '0d', '-1d', '9999d', '1y']) expect((await get(`/expiring?within=${within}`)).status, within).to.equal(400);
    });
  });

  describe('GET /api/management/audit', () => {
    const audit = async (query: string) => items<Record<string, unknown>>(await get(`/audit?limit=200&application=${application.slug}${query}`));

    it('lists entries, newest first, by filters', async () => {
      await put('a');
      clock.now = new Date(days(1));
      await consume(running.url, application.key, '/secrets/a?environment=local');
      await consume(running.url, application.key, '/secrets/none?environment=local');
      await eventually(async () => expect(await audit('')).to.have.length(5));
      const actionsOf = async (query: string) => (await audit(query)).map(({ action }) => action);
      expect(await actionsOf('&plane=MANAGEMENT')).to.deep.equal(['secret.add-version', 'secret.create', 'application.create']);
      expect(await actionsOf('&outcome=not-found')).to.deep.equal(['secret.read']);
      expect(await actionsOf('&action=secret.create')).to.deep.equal(['secret.create']);
      expect(await actionsOf(`&from=${days(1)}`)).to.deep.equal(['secret.read', 'secret.read']);
      expect(await actionsOf(`&to=${days(1)}`)).to.deep.equal(['secret.add-version', 'secret.create', 'application.create']);
      const [read] = await audit('&plane=consumer&outcome=done');
      expect(read).to.include({ keyId: read?.['keyId'], subject: 'a', version: 1, outcome: 'done', detail: null, environment: 'local' });
      expect(await actionsOf(`&actor=${String(read?.['keyId'])}`)).to.deep.equal(['secret.read', 'secret.read']);
      expect(await actionsOf('&actor=none')).to.deep.equal([]);
    });

    it('is paged without loss, and refuses what it does not know', async () => {
      for (const name of ['a', 'b', 'c']) await put(name);
      const all = await audit('');
      const paged: unknown[] = [];
      for (let after = ''; ;) {
        const page = await get(`/audit?limit=2&application=${application.slug}&after=${after}`);
        paged.push(...items(page));
        const next = member(page, 'next');
        if (typeof next !== 'string') break;
        after = next;
      }
      expect(paged).to.deep.equal(all);
      for (const query of ['plane=x', 'outcome=x', 'action=x', 'from=x', 'limit=0', 'after=x', 'who=x'])
        expect((await get(`/audit?${query}`)).status, query).to.equal(400);
    });
  });
});
