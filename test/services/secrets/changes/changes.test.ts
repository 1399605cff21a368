// The change feed: what it says of each write, its pages, its cursors and who may ask.
import { expect } from 'chai';
import { createManagementClient, Refusal } from '../../../../services/secrets/client.ts';
import { createChangeStore } from '../../../../services/secrets/changes/store.ts';
import { adminToken, call, consume, manage, member, newApplication, putSecret, secretValue, startService, useService } from '../service.ts';
import { eventually } from '../../../support/wait.ts';
import { begin, follow, inWords, poll, told } from './feed.ts';

describe('GET /api/management/changes', () => {
  const running = useService();

  it('answers at once with the newest cursor and no change when no cursor is given, or an empty one', async () => {
    await newApplication(running.url);
    const first = await told(poll(running.url));
    expect(first.changes).to.deep.equal([]);
    expect(await told(poll(running.url, ''))).to.deep.equal(first);
    expect((await poll(running.url)).headers.get('cache-control')).to.equal('no-store');
  });

  it('names application, environment and secret or entry of each write, in order, and no value', async () => {
    const cursor = await begin(running.url);
    const { slug } = await newApplication(running.url, 'Every Write');
    const at = `/${slug}`;
    const value = secretValue('of the feed');
    await manage(running.url, 'PUT', at, { name: 'Renamed' });
    await manage(running.url, 'POST', `${at}/environments`, { name: 'Test' });
    await manage(running.url, 'POST', `${at}/secrets`, { name: 'db/password' });
    const items = ['local', 'test', 'local'].map((environmentSlug) => ({ environmentSlug, value, isEnabled: environmentSlug === 'test' }));
    await manage(running.url, 'POST', `${at}/secrets/db%2Fpassword/values`, items);
    await manage(running.url, 'POST', `${at}/configurations`, { environmentSlug: 'test', key: 'a:b', value: 'x' });
    await manage(running.url, 'PUT', `${at}/configurations/test/a%3Ab`, { value: 'y' });
    await manage(running.url, 'DELETE', `${at}/configurations/test/a%3Ab`);
    await manage(running.url, 'DELETE', `${at}/secrets/db%2Fpassword`);
    await manage(running.url, 'DELETE', `${at}/environments/test`);
    await manage(running.url, 'POST', `${at}/rotate-key`);
    await manage(running.url, 'DELETE', at);
    const { changes } = await told(poll(running.url, cursor));
    expect(inWords(changes)).to.deep.equal([
      'application.create every-write * *',
      'application.update every-write * *',
      'environment.create every-write test *',
      'secret.create every-write * db/password',
      'secret.add-version every-write local db/password',
      'secret.add-version every-write test db/password',
      'configuration.create every-write test a:b',
      'configuration.update every-write test a:b',
      'configuration.delete every-write test a:b',
      'secret.delete every-write * db/password',
      'environment.delete every-write test *',
      'application.rotate-key every-write * *',
      'application.delete every-write * *',
    ]);
    expect(Object.keys(changes[4] ?? {})).to.have.members(['action', 'application', 'environment', 'secret', 'configuration', 'changedAt']);
    expect(changes[4]).to.include({ secret: 'db/password', configuration: null });
    expect(changes[6]).to.include({ secret: null, configuration: 'a:b' });
    expect(JSON.stringify(changes)).not.to.include(value);
  });

  it('says nothing of writes that were refused or changed nothing', async () => {
    const { slug } = await newApplication(running.url, 'Refusals');
    await putSecret(running.url, slug, 'password', { value: secretValue('first') });
    const cursor = await begin(running.url);
    await manage(running.url, 'POST', '', { name: 'Refusals' });
    await manage(running.url, 'DELETE', `/${slug}/environments/missing`);
    await manage(running.url, 'POST', `/${slug}/secrets/password/values`, []);
    await manage(running.url, 'POST', `/${slug}/secrets/password/values`, [{ environmentSlug: 'missing', value: secretValue('refused') }]);
    expect(await begin(running.url)).to.equal(cursor);
  });

  it('gives at most 100 changes a page, and each of them once over its pages', async () => {
    const { slug } = await newApplication(running.url);
    const cursor = await begin(running.url);
    const at = new Date();
    const keys = Array.from({ length: 250 }, (_, number) => `key ${number}`);
    await createChangeStore(running.service.database).append(
      keys.map((key) => ({ action: 'configuration.update', application: slug, environment: 'local', secret: null, configuration: key, changedAt: at })),
    );
    const first = await told(poll(running.url, cursor));
    expect(first.changes).to.have.length(100);
    const rest = await follow(running.url, first.cursor, (changes) => changes.length >= 150);
    expect([...first.changes, ...rest.changes].map(({ configuration }) => configuration)).to.deep.equal(keys);
    expect(rest.cursor).to.equal(await begin(running.url));
  });

  it('answers 410 to a cursor that is none, of another database, or too old', async () => {
    const unknown = ['x', 'a\0b', '7', '../..', '0190b2a0-0000-7000-8000-000000000000', 'é'.repeat(1000)];
    for (const cursor of unknown) {
      const refused = await poll(running.url, cursor);
      expect([refused.status, member(refused, 'type')], cursor).to.deep.equal([410, 'urn:signalbox:problem:cursor-gone']);
    }
  });

  it('answers 400 to a cursor that is given twice, and to another parameter', async () => {
    const headers = { Authorization: `Bearer ${adminToken}` };
    for (const query of ['after=a&after=b', 'since=a', 'after=a&limit=1'])
      expect((await call(running.url, { path: `/api/management/changes?${query}`, headers })).status, query).to.equal(400);
  });

  it('refuses a missing credential, a wrong one and the key of an application alike', async () => {
    const { key } = await newApplication(running.url);
    const path = '/api/management/changes';
    const ways = [{}, { Authorization: 'Bearer wrong' }, { Authorization: `Bearer ${key}` }, { 'X-Api-Key': key }];
    const answers = await Promise.all(ways.map((headers) => call(running.url, { path, headers })));
    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401]);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
  });

  it('counts failed credentials as the rest of the management plane does, and lets right ones pass', async () => {
    await running.service.database.driver.query('delete from rate_limits');
    const limited = await startService({ databaseUrl: running.databaseUrl, environment: { Management__MaxFailedCredentials: '2' } });
    try {
      const wrong = () => call(limited.url, { path: '/api/management/changes', headers: { Authorization: 'Bearer wrong' } });
      const statuses = [(await wrong()).status, (await wrong()).status, (await wrong()).status, (await poll(limited.url)).status];
      expect(statuses).to.deep.equal([401, 401, 429, 200]);
    } finally {
      await limited.close();
      await running.service.database.driver.query('delete from rate_limits');
    }
  });

  it('is followed by the client, which tells a cursor that is gone by its status', async () => {
    const client = createManagementClient({ baseUrl: running.url, credential: adminToken });
    const { cursor } = await client.changes();
    const { slug } = await newApplication(running.url);
    const { changes } = await client.changes(cursor);
    expect(changes.map(({ application, changedAt }) => [application, changedAt instanceof Date])).to.deep.equal([[slug, true]]);
    const refused: unknown = await client.changes('gone').catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Refusal).with.property('status', 410);
  });

  it('stays out of the consumer plane', async () => {
    const { key } = await newApplication(running.url);
    expect((await consume(running.url, key, '/changes')).status).to.equal(404);
  });
});

describe('the rows of the change feed', () => {
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  const running = useService({ clock: () => clock.now, environment: { Changes__RetentionDays: '3650' } });
  const daysAgo = (days: number) => new Date(clock.now.getTime() - days * 86_400_000);
  const store = () => createChangeStore(running.service.database);
  const add = (name: string, changedAt: Date) =>
    store().append([{ action: 'application.update', application: name, environment: null, secret: null, configuration: null, changedAt }]);

  beforeEach(async () => {
    await running.service.database.driver.query(`update changes set changed_at = '2025-01-01'`);
  });

  async function cursorOf(application: string): Promise<string> {
    const { rows } = await running.service.database.driver.query<{ id: string }>('select id from changes where application = $1', [application]);
    return rows[0]?.id ?? '';
  }

  it('are deleted by the housekeeping when Changes__RetentionDays are over; an older cursor is 410 then, a younger one goes on', async () => {
    await add('old', daysAgo(9));
    await add('young', daysAgo(6));
    await add('now', daysAgo(0));
    const [old, young, now] = [await cursorOf('old'), await cursorOf('young'), await cursorOf('now')];
    // Housekeeping is left out where another replica is at it: at its start ours may be.
    await eventually(async () => {
      const other = await startService({ databaseUrl: running.databaseUrl, clock: () => clock.now, environment: { Changes__RetentionDays: '7' } });
      await other.close();
      return (await cursorOf('old')) === '';
    });
    expect((await poll(running.url, old)).status).to.equal(410);
    expect(inWords((await told(poll(running.url, young))).changes)).to.deep.equal(['application.update now * *']);
    expect(await begin(running.url)).to.equal(now);
  });

  it('keep the newest one whatever its age, so that who knows it goes on', async () => {
    await add('last', daysAgo(400));
    const cursor = await begin(running.url);
    await store().prune(daysAgo(1));
    expect(await begin(running.url)).to.equal(cursor);
    await add('next', daysAgo(0));
    expect(inWords((await told(poll(running.url, cursor))).changes)).to.deep.equal(['application.update next * *']);
  });

  it('are deleted from the oldest on without a gap, though clocks of replicas differ', async () => {
    await add('first', daysAgo(30));
    for (const [name, age] of [
      ['a', 3],
      ['b', 20],
      ['c', 2],
      ['d', 1],
    ] as const)
      await add(name, daysAgo(age));
    await store().prune(daysAgo(7));
    expect(await cursorOf('first')).to.equal('');
    const { changes } = await told(poll(running.url, await cursorOf('a')));
    expect(changes.map(({ application }) => application)).to.deep.equal(['b', 'c', 'd']);
  });
});
