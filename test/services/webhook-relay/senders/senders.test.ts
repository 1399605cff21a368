// Senders on a real database: what is counted, what replicas see of each other, and what an outage does.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { bucketOf, createSenders, oldestBucket, type Senders, type SendersParts } from '../../../../services/webhook-relay/senders/senders.ts';
import { createSenderStore } from '../../../../services/webhook-relay/senders/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';

const migrations = new URL('../../../../services/webhook-relay/migrations/', import.meta.url);
const start = new Date('2026-01-02T03:00:00.000Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

describe('senders', () => {
  let testDatabase: TestDatabase;
  let database: Pool;
  let now = start;
  const open: Senders[] = [];

  beforeEach(async () => {
    testDatabase = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(testDatabase.url, { schema: 'relay', log: silentLog });
    now = start;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((senders) => senders.close()));
    await database.close();
    await testDatabase.drop();
  });

  function createReplica(parts: Partial<SendersParts> = {}): Senders {
    const store = createSenderStore(database);
    const frequencyFactor = (rate: number) => (rate < 1 ? 1 : 0.85);
    const senders = createSenders({ store, frequencyFactor, log: silentLog, clock: () => now, metrics: createMetrics(), ...parts });
    open.push(senders);
    return senders;
  }

  function record(senders: Senders, login: string, times: number): void {
    for (let n = 0; n < times; n++) senders.record(login, false, now);
  }

  it('counts a delivery at once, and forgets it after ten minutes', () => {
    const senders = createReplica();
    expect(senders.eventsPerMinute('octocat')).to.equal(0);
    record(senders, 'octocat', 15);
    expect(senders.eventsPerMinute('octocat')).to.equal(1.5);
    now = after(569);
    expect(senders.eventsPerMinute('octocat')).to.equal(1.5);
    now = after(600);
    expect(senders.eventsPerMinute('octocat')).to.equal(0);
  });

  it('writes by itself, without being asked to', async () => {
    const senders = createReplica();
    record(senders, 'octocat', 3);
    const store = createSenderStore(database);
    await eventually(async () => (await store.latest(start, start, 10))[0]?.eventCount === 3);
  });

  it('sees what other replicas counted, once it has seen the sender', async () => {
    const [one, other] = [createReplica(), createReplica()];
    record(one, 'octocat', 20);
    await one.flush();
    record(other, 'octocat', 5);
    expect(other.eventsPerMinute('octocat')).to.equal(0.5);
    await other.flush();
    expect(other.eventsPerMinute('octocat')).to.equal(2.5);
    await one.flush();
    expect(one.eventsPerMinute('octocat')).to.equal(2.5);
  });

  it('counts once what is recorded while the database writes and answers', async () => {
    const real = createSenderStore(database);
    const senders: Senders = createReplica({
      store: {
        ...real,
        add: (batch) => (record(senders, 'octocat', 5), real.add(batch)),
        countsOf: (...range) => (record(senders, 'octocat', 5), real.countsOf(...range)),
      },
    });
    record(senders, 'octocat', 10);
    for (let round = 1; round <= 5; round++) {
      await senders.flush();
      expect(senders.eventsPerMinute('octocat')).to.equal(round + 1);
    }
  });

  it('adds up replicas that write the same senders at once', async () => {
    const replicas = [createReplica(), createReplica(), createReplica()];
    const logins = Array.from({ length: 50 }, (_, n) => `sender-${n}`);
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        replicas.map((senders, n) => {
          // Each in an order of its own, which must not make them deadlock.
          for (const login of n % 2 === 0 ? logins : logins.toReversed()) senders.record(login, false, now);
          return senders.flush();
        }),
      );
    }
    const statistics = await createReplica().statistics();
    expect(Object.values(statistics).map(({ eventCount }) => eventCount)).to.deep.equal(logins.map(() => 30));
  });

  it('continues after a restart with what was counted before', async () => {
    const before = createReplica();
    record(before, 'octocat', 30);
    await before.close();
    now = after(120);
    const senders = createReplica();
    record(senders, 'octocat', 1);
    await senders.flush();
    expect(senders.eventsPerMinute('octocat')).to.equal(3.1);
  });

  it('does not count buckets that lie in the future of its clock', async () => {
    const ahead = createReplica({ clock: () => after(3600) });
    ahead.record('octocat', false, after(3600));
    await ahead.flush();
    const senders = createReplica();
    record(senders, 'octocat', 10);
    await senders.flush();
    expect(senders.eventsPerMinute('octocat')).to.equal(1);
  });

  it('counts what comes late, as long as it still counts, in any order and in several parts', () => {
    const senders = createReplica();
    for (const [seconds, times] of [
      [0, 1],
      [-300, 2],
      [-570, 3],
      [0, 4],
      [-571, 100],
    ] as const)
      // prettier-ignore
      for (let n = 0; n < times; n++) senders.record('octocat', false, after(seconds));
    expect(senders.eventsPerMinute('octocat')).to.equal(1);
    now = after(30);
    expect(senders.eventsPerMinute('octocat')).to.equal(0.7);
  });

  it('has twenty buckets of half a minute', () => {
    now = new Date('2026-01-02T03:04:05Z');
    expect(new Date(bucketOf(now))).to.deep.equal(new Date('2026-01-02T03:04:00Z'));
    expect(oldestBucket(now)).to.deep.equal(new Date('2026-01-02T02:54:30Z'));
  });

  describe('in memory', () => {
    /** The store of a database that answers nothing; it remembers the questions. */
    function createAlone() {
      const asked: (readonly string[])[] = [];
      const countsOf = (logins: readonly string[]) => (asked.push(logins), Promise.resolve([]));
      const senders = createReplica({ store: { ...createSenderStore(database), add: () => Promise.resolve(), countsOf } });
      return { senders, asked };
    }

    it('forgets the sender that was silent longest when there are too many', async () => {
      const { senders } = createAlone();
      for (const login of ['first', 'second', 'first']) senders.record(login, false, now);
      for (let n = 0; n < 9_998; n++) senders.record(`sender-${n}`, false, now);
      await senders.flush();
      senders.record('newest', false, now);
      expect(['first', 'second', 'newest'].map((login) => senders.eventsPerMinute(login))).to.deep.equal([0.2, 0, 0.1]);
    });

    it('asks for the counts of senders that were seen within a minute', async () => {
      const { senders, asked } = createAlone();
      senders.record('earlier', false, start);
      senders.record('later', false, after(30));
      for (const seconds of [60, 61]) {
        now = after(seconds);
        await senders.flush();
      }
      expect(asked).to.deep.equal([['earlier', 'later'], ['later']]);
    });

    it('asks for the counts of the newest 250 only', async () => {
      const { senders, asked } = createAlone();
      for (let n = 0; n < 3000; n++) senders.record(`sender-${n}`, false, now);
      await senders.flush();
      expect(asked[0]).to.have.length(250);
      expect(asked[0]?.at(-1)).to.equal('sender-2999');
    });

    it('forgets a sender after ten minutes of silence', async () => {
      const { senders } = createAlone();
      senders.record('silent', false, now);
      now = after(601);
      await senders.flush();
      now = start;
      expect(senders.eventsPerMinute('silent')).to.equal(0);
    });
  });

  describe('statistics', () => {
    it('tell of each sender what it did', async () => {
      const senders = createReplica();
      record(senders, 'octocat', 8);
      senders.record('dependabot[bot]', true, now);
      now = after(90);
      record(senders, 'octocat', 4);
      expect(await senders.statistics()).to.deep.equal({
        'dependabot[bot]': {
          eventCount: 1,
          firstActivity: start,
          lastActivity: start,
          timeSpanMinutes: 0,
          eventsPerMinute: 0.1,
          frequencyMultiplier: 1,
          isBot: true,
        },
        octocat: {
          eventCount: 12,
          firstActivity: start,
          lastActivity: after(90),
          timeSpanMinutes: 1.5,
          eventsPerMinute: 1.2,
          frequencyMultiplier: 0.85,
          isBot: false,
        },
      });
    });

    it('keep a sender that has been silent, at no events per minute', async () => {
      const senders = createReplica();
      record(senders, 'octocat', 12);
      await senders.flush();
      now = after(7200);
      expect((await senders.statistics())['octocat']).to.include({ eventCount: 12, eventsPerMinute: 0, frequencyMultiplier: 1 });
    });

    it('leave out deliveries without a sender', async () => {
      const senders = createReplica();
      record(senders, '', 5);
      expect(await senders.statistics()).to.deep.equal({});
      expect(senders.eventsPerMinute('')).to.equal(0);
    });

    it('hold names that Postgres could not, without losing the others of the batch', async () => {
      const senders = createReplica();
      for (const login of ['a\0b', '\ud800', '\udfff', '__proto__', 'x'.repeat(255)]) record(senders, login, 1);
      const statistics = await senders.statistics();
      expect(Object.keys(statistics)).to.have.members(['a\ufffdb', '\ufffd', '__proto__', 'x'.repeat(255)]);
      expect(statistics['\ufffd']?.eventCount).to.equal(2);
      expect(senders.eventsPerMinute('a\0b')).to.equal(0.1);
    });

    it('ask the database once for many who ask at the same time', async () => {
      let questions = 0;
      const real = createSenderStore(database);
      const senders = createReplica({ store: { ...real, latest: (...range) => (questions++, real.latest(...range)) } });
      await Promise.all(Array.from({ length: 50 }, () => senders.statistics()));
      expect(questions).to.equal(1);
    });
  });

  describe('while the database is down', () => {
    const failing = (store: ReturnType<typeof createSenderStore>) => {
      const outage = { isOver: false };
      const refuse = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      const broken: typeof store = {
        ...store,
        add: (activities) => (outage.isOver ? store.add(activities) : refuse()),
        countsOf: (...range) => (outage.isOver ? store.countsOf(...range) : refuse()),
      };
      return { outage, broken };
    };

    it('keep counting in memory, and write it all later', async () => {
      const { outage, broken } = failing(createSenderStore(database));
      const senders = createReplica({ store: broken });
      record(senders, 'octocat', 10);
      await senders.flush();
      now = after(60);
      record(senders, 'octocat', 5);
      await senders.flush();
      expect(senders.eventsPerMinute('octocat')).to.equal(1.5);
      outage.isOver = true;
      expect((await senders.statistics())['octocat']).to.include({ eventCount: 15, eventsPerMinute: 1.5, timeSpanMinutes: 1 });
    });

    it('keep the all-time count of an hour, and only ten minutes of buckets', async () => {
      const { outage, broken } = failing(createSenderStore(database));
      const written: number[] = [];
      const senders = createReplica({ store: { ...broken, add: (batch) => (written.push(...batch.map(({ buckets }) => buckets.size)), broken.add(batch)) } });
      for (let minute = 0; minute < 60; minute++) {
        now = after(minute * 60);
        record(senders, 'octocat', 1);
        await senders.flush();
      }
      outage.isOver = true;
      expect((await senders.statistics())['octocat']).to.include({ eventCount: 60, eventsPerMinute: 1 });
      expect(Math.max(...written)).to.be.at.most(11);
    });

    it('count no more senders than there is room for, and say how many events were lost', async () => {
      const { outage, broken } = failing(createSenderStore(database));
      const metrics = createMetrics();
      const senders = createReplica({ store: broken, metrics });
      for (let n = 0; n < 10_150; n++) senders.record(`sender-${n}`, false, now);
      await senders.flush();
      outage.isOver = true;
      expect(Object.keys(await senders.statistics())).to.have.length(10_000);
      expect(await metrics.text()).to.include('signalbox_relay_sender_events_lost_total 150');
    });
  });
});
