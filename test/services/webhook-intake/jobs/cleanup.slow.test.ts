// Cleanup of fourteen months, and what it reads to find what is expired.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { makePartitions } from '../../../../services/platform/postgres/partitions.ts';
import type { Retention } from '../../../../services/webhook-intake/config.ts';
import { readCleanupConfig } from '../../../../services/webhook-intake/config.ts';
import { partitionedTables } from '../../../../services/webhook-intake/jobs/housekeeping.ts';
import { createCleanup } from '../../../../services/webhook-intake/jobs/cleanup.ts';
import { createIntakeDatabase, type IntakeDatabase, schema } from '../intake-database.ts';
import { fillMonths, fillOthers, now } from './months.ts';

const defaults: Retention = readCleanupConfig({ DATABASE_URL: 'postgres://nowhere' });

async function clean(pool: Pool, { stepMs = 60_000, retention = defaults } = {}) {
  const counts = { processed: 0, failed: 0 };
  const job = createCleanup({ database: pool, retention, clock: () => now, log: silentLog, stepMs });
  await job.run({ counts, stopping: new AbortController().signal });
  return counts;
}

describe('cleanup', function () {
  this.timeout(180_000);
  let database: IntakeDatabase;
  const create = async () => {
    const created = await createIntakeDatabase();
    for (const table of partitionedTables) await makePartitions(created.pool, table, { from: new Date('2025-09-15'), ahead: 16 });
    return created;
  };
  /** Each a query of one number. */
  const numbers = async (...queries: readonly string[]) => {
    const [row = {}] = await database.rows<Record<string, number>>(`select ${queries.map((query, index) => `(${query}) as n${index}`).join(', ')}`);
    return Object.values(row).map(Number);
  };
  const months = async (table: string) => {
    const rows = await database.rows<{ name: string }>(`select inhrelid::regclass::text as name from pg_inherits where inhparent = '${table}'::regclass`);
    return rows.map(({ name }) => name.slice(table.length + 1)).sort();
  };

  describe('of 100 000 events over fourteen months, with the default windows', () => {
    const at = `timestamptz '${now.toISOString()}'`;
    const dropped = `date_trunc('month', ${at} - interval '180 days', 'UTC')`;
    const sums = () =>
      database.rows('select source, event, sum(received) as received, sum(bytes) as bytes from statistics_buckets group by 1, 2 order by 1, 2');
    let expected: readonly number[];
    let sumsBefore: readonly object[];

    before(async () => {
      database = await create();
      await fillMonths(database, 100_000);
      expect(await database.count('events')).to.equal(100_000);
      expected = await numbers(
        `select count(*) from events where received_at >= ${dropped} and (source = 'forge' or received_at >= ${at} - interval '90 days')`,
        `select count(*) from event_payloads p where received_at >= date_trunc('month', ${at} - interval '30 days', 'UTC')`,
        `select count(*) from delivery_keys where stored_at >= ${at} - interval '90 days'`,
        `select count(*) from tracked_deliveries where tracked_at >= ${at} - interval '90 days'`,
      );
      sumsBefore = await sums();
      await database.rows(`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'a row was deleted'; end $$`);
      await database.rows(`create trigger no_rows before delete on events for each row when (old.source = 'forge') execute function refuse()`);
      await database.rows('create trigger no_rows before delete on event_payloads for each row execute function refuse()');
      expect((await clean(database.pool)).processed).to.be.above(10_000);
    });
    after(() => database.close());

    it('leaves exactly what it should: whole months of the event log, and of the rest what is within its days', async () => {
      const tables = ['events', 'event_payloads', 'delivery_keys', 'tracked_deliveries'];
      const left = await numbers(...tables.map((table) => `select count(*) from ${table}`));
      expect(left).to.deep.equal(expected);
      expect(Math.min(...left)).to.be.above(5000);
    });

    it('drops months instead of deleting rows', async () => {
      expect(await months('events')).to.deep.equal([
        '2026_05',
        '2026_06',
        '2026_07',
        '2026_08',
        '2026_09',
        '2026_10',
        '2026_11',
        '2026_12',
        '2027_01',
        'default',
      ]);
      expect(await months('event_payloads')).to.deep.equal(['2026_10', '2026_11', '2026_12', '2027_01', 'default']);
      // No row was deleted, or the run had failed as this one does.
      await fillMonths(database, 10, { from: new Date('2020-01-01'), days: 1 });
      const failure = await clean(database.pool).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error).with.property('message').that.contains('events in no month: a row was deleted');
      await database.rows(`delete from statistics_buckets where bucket_start < '2021-01-01'`);
      await database.rows('drop trigger no_rows on events');
      await database.rows('drop trigger no_rows on event_payloads');
      await clean(database.pool);
    });

    it('leaves statistics that still add up', async () => {
      expect(await sums()).to.deep.equal(sumsBefore);
      const [total, buckets, events] = await numbers(
        'select sum(received) from statistics_buckets',
        `select sum(received) from statistics_buckets where bucket_start >= date_bin('6 hours', ${at} - interval '90 days' + interval '6 hours', '2000-01-01Z')`,
        `select count(*) from events where received_at >= date_bin('6 hours', ${at} - interval '90 days' + interval '6 hours', '2000-01-01Z')`,
      );
      expect(total).to.equal(100_000);
      expect(buckets).to.equal(events);
    });

    it('has nothing left to do in a second run', async () => {
      expect(await clean(database.pool)).to.deep.equal({ processed: 0, failed: 0 });
    });
  });

  describe('of less', () => {
    beforeEach(async () => {
      database = await create();
    });
    afterEach(() => database.close());

    it('leaves the rest to the next run when the time of a step is over, and loses nothing by it', async () => {
      await fillMonths(database, 20_000);
      await clean(database.pool, { stepMs: 1 });
      expect((await clean(database.pool)).processed).to.be.above(1000);
      expect(await clean(database.pool)).to.deep.equal({ processed: 0, failed: 0 });
    });

    it('deletes typed rows, runs, releases, buckets and sent notifications by their own windows', async () => {
      await fillOthers(database);
      await clean(database.pool);
      const names = async (table: string, column: string) =>
        (await database.rows<{ name: string }>(`select ${column} as name from ${table} order by 1`)).map(({ name }) => name);
      expect(await names('issues', 'object_key')).to.deep.equal(['fresh', 'old but NEW']);
      expect(await names('workflow_runs', 'object_key')).to.deep.equal(['fresh']);
      expect(await names('statistics_buckets', 'event')).to.deep.equal(['within two years']);
      expect(await names('worker_runs', 'worker')).to.deep.equal(['service']);
      expect(await names('outbox', 'rule')).to.deep.equal(['fresh', 'old, not sent']);
      expect(await names('outbox_recipients', 'rule')).to.deep.equal(['fresh', 'old, not sent']);
      const releases = await database.rows<{ repository: string; kept: number; oldest: number; gone: number }>(
        `select repository, count(*) filter (where deleted_at is null) as kept, min(tag_name::int) as oldest, count(deleted_at) as gone from releases group by 1 order by 1`,
      );
      expect(releases).to.deep.equal([
        { repository: 'a/few', kept: 5, oldest: 1, gone: 0 },
        { repository: 'a/many', kept: 20, oldest: 11, gone: 3 },
      ]);
    });

    it('deletes what lies in the default partitions, as no month of it could be dropped', async () => {
      await fillMonths(database, 100, { from: new Date('2024-01-01'), days: 30 });
      expect(await database.count('events_default')).to.equal(100);
      await clean(database.pool);
      expect([await database.count('events'), await database.count('event_payloads')]).to.deep.equal([0, 0]);
    });

    it('does not read what stays: 54,000 rows more cost less than a quarter of them', async () => {
      const read = async (staying: number) => {
        const own = await create();
        try {
          await fillMonths(own, 3000, { from: new Date('2025-12-01'), days: 250 });
          await fillMonths(own, staying, { from: new Date('2026-11-01'), days: 20 });
          await own.rows('vacuum analyze');
          return await rowsRead(own);
        } finally {
          await own.close();
        }
      };
      const [few, many] = [await read(6000), await read(60_000)];
      expect(few).to.be.above(1000);
      expect(many - few).to.be.below(54_000 / 4);
    });
  });
});

/** By the server's own count, of tables and of index entries, in one run. */
async function rowsRead(database: IntakeDatabase): Promise<number> {
  const counted = `select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)
      + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes where schemaname = '${schema}') as read
    from pg_stat_user_tables where schemaname = '${schema}'`;
  const pool = createPool(database.url, { schema, log: silentLog, maxConnections: 1 });
  const read = async () => {
    await pool.driver.query('select pg_stat_force_next_flush()');
    return Number((await pool.driver.query<{ read: number }>(counted)).rows[0]?.read);
  };
  await database.rows('select pg_stat_reset()');
  await clean(pool);
  const sum = await read();
  await pool.close();
  return sum;
}
