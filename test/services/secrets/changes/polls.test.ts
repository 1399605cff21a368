// Polls that wait for a change: over replicas, with writers that are not done, many at once, and at the end of their process.
import { expect } from 'chai';
import { createLifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createChangePolls } from '../../../../services/secrets/changes/polls.ts';
import { type ChangeStore, createChangeStore } from '../../../../services/secrets/changes/store.ts';
import { eventually } from '../../../support/wait.ts';
import { consume, manage, newApplication, putSecret, secretValue, startService, type TestService, useService } from '../service.ts';
import { begin, follow, inWords, poll, told } from './feed.ts';

const metricOf = async ({ metrics }: TestService, name: string) =>
  Number(new RegExp(`^${name.replaceAll(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(await metrics.text())?.[1]);
const waits = (service: TestService, count: number) =>
  eventually(async () => expect(await metricOf(service, 'signalbox_secrets_change_polls_waiting')).to.equal(count));

describe('a poll of the changes that waits', () => {
  const running = useService();
  let replica: TestService;
  before(async () => {
    replica = await startService({ databaseUrl: running.databaseUrl });
  });
  after(() => replica.close());

  const store = () => createChangeStore(running.service.database);
  const add = (application: string, within: Pick<ChangeStore, 'append'> = store()) =>
    within.append([{ action: 'application.update', application, environment: null, secret: null, configuration: null, changedAt: new Date() }]);

  it('is answered when another replica changes something', async () => {
    const { slug } = await newApplication(running.url);
    const polling = told(poll(replica.url, await begin(running.url)));
    await waits(replica, 1);
    await putSecret(running.url, slug, 'password', { value: secretValue('waited for') });
    expect(inWords((await polling).changes)[0]).to.equal(`secret.create ${slug} * password`);
    await waits(replica, 0);
  });

  it('sees no change before one of a lower number that is not committed yet, and then both, in order', async () => {
    const { slug: first } = await newApplication(running.url);
    const { slug: second } = await newApplication(running.url);
    const cursor = await begin(running.url);
    const polling = told(poll(replica.url, cursor));
    const written = Promise.withResolvers<undefined>();
    const mayCommit = Promise.withResolvers<undefined>();
    const slow = running.service.database.transaction(async (inTransaction) => {
      await add(first, createChangeStore(inTransaction));
      written.resolve(undefined);
      await mayCommit.promise;
    });
    await written.promise;
    let isDone = false;
    const quick = manage(replica.url, 'PUT', `/${second}`, { name: 'Second' }).finally(() => (isDone = true));
    await eventually(async () => {
      const { rows } = await running.service.database.driver.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rows).to.have.length(1);
    });
    expect(isDone).to.equal(false);
    expect(await begin(running.url)).to.equal(cursor);
    mayCommit.resolve(undefined);
    await slow;
    expect((await quick).status).to.equal(200);
    const { changes } = await follow(replica.url, cursor, (seen) => seen.length >= 2);
    expect(changes.map(({ application }) => application)).to.deep.equal([first, second]);
    expect((await polling).changes[0]).to.include({ application: first });
  });

  it('loses and repeats nothing while 40 writers on two replicas change things', async () => {
    const applications = await Promise.all(Array.from({ length: 8 }, () => newApplication(running.url)));
    const cursor = await begin(running.url);
    const expected = applications.flatMap(({ slug }) => Array.from({ length: 25 }, (_, number) => `configuration.create ${slug} local key ${number}`));
    const following = [running.url, replica.url].map((url) => follow(url, cursor, (seen) => seen.length >= expected.length));
    const write = async ({ slug }: { readonly slug: string }, from: number) => {
      for (let number = from; number < 25; number += 5) {
        const url = number % 2 === 0 ? running.url : replica.url;
        const body = { environmentSlug: 'local', key: `key ${number}`, value: 'x' };
        expect((await manage(url, 'POST', `/${slug}/configurations`, body)).status).to.equal(201);
      }
    };
    await Promise.all(applications.flatMap((application) => [0, 1, 2, 3, 4].map((from) => write(application, from))));
    const [one, other] = await Promise.all(following);
    expect(inWords(one?.changes ?? []).sort()).to.deep.equal(expected.sort());
    expect(other).to.deep.equal(one);
  });

  it('holds no connection: 300 of them wait, and reads of applications and writes go on', async () => {
    const { slug, key } = await newApplication(running.url);
    await putSecret(running.url, slug, 'password', { value: secretValue('read beside polls') });
    const cursor = await begin(running.url);
    const polling = Array.from({ length: 300 }, () => told(poll(running.url, cursor)));
    await waits(running.service, 300);
    const { driver } = running.service.database;
    await eventually(() => expect(driver.totalCount - driver.idleCount).to.equal(0));
    expect((await consume(running.url, key, '/secrets/password?environment=local')).status).to.equal(200);
    await manage(replica.url, 'POST', `/${slug}/rotate-key`);
    const seen = (await Promise.all(polling)).map(({ changes }) => inWords(changes).join());
    expect(new Set(seen)).to.deep.equal(new Set([`application.rotate-key ${slug} * *`]));
  });

  it('is refused with 503 and Retry-After above Changes__MaxPolls, while who is behind or begins is answered', async () => {
    const small = await startService({ databaseUrl: running.databaseUrl, environment: { Changes__MaxPolls: '2' } });
    try {
      const before = await begin(small.url);
      await add('behind');
      const cursor = await begin(small.url);
      const polling = [told(poll(small.url, cursor)), told(poll(small.url, cursor))];
      await waits(small, 2);
      const refused = await poll(small.url, cursor);
      expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '5']);
      expect(await metricOf(small, 'signalbox_secrets_change_polls_total{outcome="refused"}')).to.equal(1);
      expect((await told(poll(small.url, before))).changes).to.have.length(1);
      await add('for all');
      for (const { changes } of await Promise.all(polling)) expect(changes).to.have.length(1);
    } finally {
      await small.close();
    }
  });

  it('ends at once with the same cursor when its process stops', async () => {
    const stopping = await startService({ databaseUrl: running.databaseUrl });
    const cursor = await begin(stopping.url);
    const polling = told(poll(stopping.url, cursor));
    await waits(stopping, 1);
    const closing = stopping.close();
    expect(await polling).to.deep.equal({ cursor, changes: [] });
    await closing;
  });

  describe('in a process of its own', () => {
    const polls = (of: Pick<ChangeStore, 'newest' | 'from' | 'after'>) => {
      const lifecycle = createLifecycle(silentLog);
      return { ...createChangePolls({ store: of, lifecycle, metrics: createMetrics(), maxPolls: 10 }), stop: () => lifecycle.stop() };
    };

    it('ends with the same cursor 25 s after its request came', async () => {
      const own = polls(store());
      const { cursor } = await own.begin();
      expect(await own.poll(cursor, performance.now() - 24_900)).to.deep.equal({ cursor, changes: [] });
      await own.stop();
    });

    it('is refused when the database cannot be asked', async () => {
      const own = polls({ ...store(), after: () => Promise.reject(new Error('no database')) });
      const { cursor } = await own.begin();
      const failed: unknown = await own.poll(cursor, performance.now()).catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(Error).with.property('message', 'no database');
      await own.stop();
    });

    it('misses nothing when it begins to wait while the others are looked for, with a cursor that is behind theirs', async () => {
      const asked = Promise.withResolvers<undefined>();
      const answered = Promise.withResolvers<undefined>();
      const read = Promise.withResolvers<undefined>();
      let froms = 0;
      // The first poll waits for `c`; its change is announced only when the second one waits, which saw neither `b` nor `c`.
      const own = polls({
        ...store(),
        from: async (cursor, limit) => {
          const found = await store().from(cursor, limit);
          if (++froms === 1) await read.promise;
          return found;
        },
        after: async (number, limit) => {
          const rows = await store().after(number, limit);
          if (rows.length > 0) {
            asked.resolve(undefined);
            await answered.promise;
          }
          return rows;
        },
      });
      await add('a');
      const slow = own.poll((await own.begin()).cursor, performance.now());
      await eventually(() => froms === 1);
      await add('b');
      const quick = own.poll((await own.begin()).cursor, performance.now());
      await eventually(() => froms === 2);
      await add('c');
      await asked.promise;
      read.resolve(undefined);
      await new Promise((resolve) => setImmediate(resolve)); // the slow one has its answer, and waits
      answered.resolve(undefined);
      expect((await quick).changes.map(({ application }) => application)).to.deep.equal(['c']);
      expect((await slow).changes.map(({ application }) => application)).to.deep.equal(['b', 'c']);
      await own.stop();
    });
  });
});
