// The overview of secrets: applications, coverage of environments, reads by day, what expires, and the audit.
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
  startService,
  type TestApplication,
  useService,
} from '../service.ts';
import { eventually } from '../../../support/wait.ts';

const start = new Date('2026-03-15T12:00:00.000Z');
const days = (number: number) => new Date(start.getTime() + number * 86_400_000).toISOString();

describe('the overview of secrets', () => {
  const clock = { now: start };
  const consoleToken = secretValue('the token of the console');
  const running = useService({ clock: () => clock.now, environment: { Console__SecretsToken: consoleToken } });
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

  describe('GET /api/management/applications/{slug}/coverage, by filters', () => {
    const namesOf = async (query: string) => items<{ name: string }>(await get(`/applications/${application.slug}/coverage${query}`)).map(({ name }) => name);

    it('lists secrets whose name has a part, in any case', async () => {
      for (const name of ['DB_PASSWORD', 'db-user', 'Größe', '100%_x']) await put(name);
      expect(await namesOf('?q=db')).to.deep.equal(['DB_PASSWORD', 'db-user']);
      expect(await namesOf('?q=GR%C3%96')).to.deep.equal(['Größe']);
      expect(await namesOf('?q=%25_')).to.deep.equal(['100%_x']);
      expect(await namesOf('?q=nothing')).to.deep.equal([]);
    });

    it('lists secrets that lack a value in an environment, with those that they inherit counted', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Production' });
      await put('both');
      await put('both', { environmentSlug: 'production' });
      await put('local only');
      await put('switched off', { isEnabled: false });
      await put('switched off', { environmentSlug: 'production' });
      expect(await namesOf('?lacking=true')).to.deep.equal(['local only', 'switched off']);
      expect(await namesOf('?lacking=false')).to.have.length(3);
      expect(await namesOf('?lacking=true&q=off')).to.deep.equal(['switched off']);
      await manage(running.url, 'PUT', `/${application.slug}/environments/production`, { inherits: 'local' });
      expect(await namesOf('?lacking=true')).to.deep.equal(['switched off']);
      expect((await get(`/applications/${application.slug}/coverage?lacking=x`)).status).to.equal(400);
    });
  });

  describe('GET /api/management/application-summaries', () => {
    type Summary = { slug: string };
    const list = (query = '') => get(`/application-summaries?limit=200${query}`);
    const mine = async () => items<Summary>(await list()).find(({ slug }) => slug === application.slug);

    it('has the numbers of an application, the last use of its keys, and what expires', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Production' });
      await manage(running.url, 'POST', `/${application.slug}/keys`, { name: 'second' });
      await manage(running.url, 'POST', `/${application.slug}/keys`, { name: 'over', expiresAt: days(-1) });
      await put('a', { expiresAt: days(5) });
      await put('b', { expiresAt: days(3) });
      await put('c', { expiresAt: days(31) });
      await put('d', { expiresAt: days(3) });
      await put('d');
      const { slug } = application;
      const numbers = { slug, name: `app ${slug.split('-')[1]}`, description: null, environments: 2, secrets: 4, keys: 2, expiring: 2, expiresAt: days(3) };
      expect(await mine()).to.deep.equal({ ...numbers, lastUsedAt: null });
      await consume(running.url, application.key, '/secrets/a?environment=local');
      await eventually(async () => expect(await mine()).to.deep.equal({ ...numbers, lastUsedAt: days(0) }));
    });

    it('is paged by slug, finds parts of slugs and names, and hides deleted applications', async () => {
      const other = await newApplication(running.url, 'Überall');
      expect(items<Summary>(await list('&q=%C3%BCBER')).map(({ slug }) => slug)).to.deep.equal([other.slug]);
      const all = items<Summary>(await list()).map(({ slug }) => slug);
      expect(all).to.deep.equal(all.toSorted());
      const first = await get('/application-summaries?limit=1');
      const second = await get(`/application-summaries?limit=1&after=${String(member(first, 'next'))}`);
      expect([...items<Summary>(first), ...items<Summary>(second)].map(({ slug }) => slug)).to.deep.equal(all.slice(0, 2));
      await manage(running.url, 'DELETE', `/${other.slug}`);
      expect(items(await list('&q=berall'))).to.deep.equal([]);
      for (const query of ['after=x', 'limit=0', 'who=x']) expect((await get(`/application-summaries?${query}`)).status, query).to.equal(400);
    });
  });

  describe('GET /api/management/applications/{slug}/reads', () => {
    const reads = (query = '') => get(`/applications/${application.slug}/reads${query}`);
    const series = async (query = '') =>
      Object.fromEntries(
        (member(await reads(query), 'series') as { environment: string; points: { day: string; reads: number }[] }[]).map(({ environment, points }) => [
          environment,
          Object.fromEntries(points.map((point) => [point.day, point.reads])),
        ]),
      );

    it('counts reads by environment and day, of all secrets and of one', async () => {
      await manage(running.url, 'POST', `/${application.slug}/environments`, { name: 'Production' });
      for (const name of ['a', 'b']) for (const environmentSlug of ['local', 'production']) await put(name, { environmentSlug });
      const read = (path: string) => consume(running.url, application.key, path);
      for (let count = 0; count < 3; count++) await read('/secrets/a?environment=local');
      await read('/secrets?environment=production&values=true');
      await read('/secrets/none?environment=local');
      clock.now = new Date(days(1));
      await read('/secrets/b?environment=local');
      await eventually(async () => expect(await series()).to.deep.equal({ local: { '2026-03-15': 3, '2026-03-16': 1 }, production: { '2026-03-15': 2 } }));
      await read('/secrets/b?environment=local');
      await eventually(async () => expect(await series('?secret=b')).to.deep.equal({ local: { '2026-03-16': 2 }, production: { '2026-03-15': 1 } }));
      expect(await series('?days=1')).to.deep.equal({ local: { '2026-03-16': 2 } });
      expect((await reads('?days=2')).body).to.include({ from: '2026-03-15', to: '2026-03-16' });
    });

    it('forgets them with the secret, and has none where there were none', async () => {
      await put('a');
      await consume(running.url, application.key, '/secrets/a?environment=local');
      await eventually(async () => expect(await series()).to.deep.equal({ local: { '2026-03-15': 1 } }));
      await manage(running.url, 'DELETE', `/${application.slug}/secrets/a`);
      expect(await series()).to.deep.equal({});
    });

    it('forgets them when the audit is over', async () => {
      await put('a');
      await consume(running.url, application.key, '/secrets/a?environment=local');
      await eventually(async () => expect(await series()).to.deep.equal({ local: { '2026-03-15': 1 } }));
      const environment = { Audit__RetentionDays: '30' };
      const later = await startService({ databaseUrl: running.databaseUrl, environment, clock: () => new Date(days(31)) });
      await eventually(async () => expect(await series()).to.deep.equal({}));
      await later.close();
    });

    it('refuses what it does not know', async () => {
      expect((await get('/applications/none/reads')).status).to.equal(404);
      expect((await reads('?secret=none')).status).to.equal(404);
      for (const query of ['days=0', 'days=367', 'days=x', 'who=x']) expect((await reads(`?${query}`)).status, query).to.equal(400);
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
      expect((await expiring('&within=48h&expired=2d')).map(({ secret }) => secret)).to.deep.equal(['over', 'sooner']);
      expect((await expiring('&within=48h&expired=12h')).map(({ secret }) => secret)).to.deep.equal(['sooner']);
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
      for (const time of ['30', 'd', '0d', '-1d', '9999d', '1y']) {
        for (const name of ['within', 'expired']) expect((await get(`/expiring?${name}=${time}`)).status, `${name} ${time}`).to.equal(400);
      }
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
      expect(await actionsOf('&subject=a')).to.deep.equal(['secret.read', 'secret.add-version', 'secret.create']);
      expect(await actionsOf('&subject=none&plane=management')).to.deep.equal([]);
    });

    it('names the person that the console asks for, and believes no other client about one', async () => {
      const path = `/api/management/applications/${application.slug}/secrets`;
      const add = (name: string, credential: string, person: string) =>
        call(running.url, {
          method: 'POST',
          path,
          headers: { Authorization: `Bearer ${credential}`, 'X-Signalbox-Actor': encodeURIComponent(person) },
          body: { name },
        });
      expect((await add('of the console', consoleToken, 'Ada Ümlaut')).status).to.equal(201);
      expect((await add('of the console', consoleToken, 'Grace')).status).to.equal(409);
      expect((await add('of another', adminToken, 'Ada Ümlaut')).status).to.equal(201);
      await add('long', consoleToken, 'n'.repeat(500));
      await eventually(async () =>
        expect((await audit('&action=secret.create')).map(({ subject, person, outcome }) => ({ subject, person, outcome }))).to.deep.include.members([
          { subject: 'of the console', person: 'Ada Ümlaut', outcome: 'done' },
          { subject: 'of the console', person: 'Grace', outcome: 'conflict' },
          { subject: 'of another', person: null, outcome: 'done' },
          { subject: 'long', person: 'n'.repeat(200), outcome: 'done' },
        ]),
      );
      expect((await audit(`&person=${encodeURIComponent('Ada Ümlaut')}`)).map(({ subject }) => subject)).to.deep.equal(['of the console']);
      expect(await audit('&person=nobody')).to.deep.equal([]);
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
