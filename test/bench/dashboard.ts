// The dashboard API on a million events: the first page of its routes, filtered, against the same service on a tenth of them.
import pg from 'pg';
import { silentLog } from '../../services/platform/log.ts';
import { migrate } from '../../services/platform/postgres/migrations.ts';
import { makePartitions } from '../../services/platform/postgres/partitions.ts';
import { createPool } from '../../services/platform/postgres/pool.ts';
import { migrations, schema } from '../services/webhook-intake/intake-database.ts';
import { startPostgres, unsafe } from '../support/postgres.ts';
import { type Bench, compare, interleaved, type Pace } from './support/bench.ts';
import { startService } from './support/programs.ts';
import { needWrk, runWrk } from './support/wrk.ts';

const events = { ours: 1_000_000, bound: 100_000 };
const token = 'token-of-the-dashboard-bench';
const connections = 8;
const firstDay = new Date('2026-01-01T00:00:00Z');

const paths = {
  events: '/api/v1/events',
  'events of one event': '/api/v1/events?event=push',
  'events of a repository': '/api/v1/events?repository=railway/r7',
  'events of a sender': '/api/v1/events?sender=s7&from=2026-01-02T00:00:00Z',
  'events of a repository by event': '/api/v1/events?repository=railway/r7&event=push',
  'events of a repository and a sender that never meet': '/api/v1/events?repository=railway/r7&sender=s8',
  'events of a source that has gone': '/api/v1/events?source=snyk',
  senders: '/api/v1/senders',
  'statistics of a week': '/api/v1/statistics?from=2026-01-05T00:00:00Z&to=2026-01-12T00:00:00Z',
  'issues of a repository': '/api/v1/issues?repository=railway/r7',
  'issues of a repository in a state that is rare': '/api/v1/issues?repository=railway/r7&processingState=NEW',
  'issues not processed': '/api/v1/issues/processing',
  'a pull request': '/api/v1/repositories/railway/r7/pulls/7',
  'processing state': '/api/v1/processing-state',
  recent: '/api/v1/recent',
};

/** Over half a year, by 100 senders in 20 repositories: a filter leaves a page or more on both sides. */
async function fill(url: string, count: number): Promise<void> {
  const pool = createPool(url, { schema, log: silentLog });
  await makePartitions(pool, 'events', { from: firstDay, ahead: 6 });
  await pool.close();
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  await client.connect();
  const at = `timestamptz '${firstDay.toISOString()}' + n * interval '${15_000_000 / count} seconds'`;
  await client.query(
    `insert into events (id, source, forge, event, repository, number, sender, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers)
    select gen_random_uuid(), case when n <= $1 / 2 and n % 10 = 0 then 'snyk' else 'forge' end, 'github.com', case when n % 3 = 0 then 'push' else 'pull_request' end, 'railway/r' || n % 20, n % 100, 's' || n % 100, n::text, '1', '2', 5,
      true, 100, ${at}, now(), '{}' from generate_series(1, $1::int) n`,
    [count],
  );
  await client.query(
    `insert into statistics_buckets (bucket_start, source, event, received, duplicates, bytes) select date_bin('6 hours', received_at, timestamptz '2000-01-01Z'), source, event, count(*), 0, sum(bytes) from events group by 1, 2, 3`,
  );
  for (const table of ['issues', 'pull_requests'])
    await client.query(
      `insert into ${table} (id, forge, object_key, forge_id, repository, processing_state, first_seen_at, updated_at, event_received_at, version, delivery_id, hook_id, target_id, rest, number)
      select gen_random_uuid(), 'github.com', n::text, n::text, 'railway/r' || n % 20, case when n % 100 = 0 then 'NEW' else 'PROCESSED' end, ${at}, ${at}, ${at}, n::text, n::text, '1', '2', '{}', n % 100
      from generate_series(1, $1::int) n`,
      [count],
    );
  await client.query('vacuum analyze');
  await client.end();
}

async function startSide(count: number) {
  const postgres = await startPostgres({ settings: { ...unsafe, shared_buffers: '512MB', max_wal_size: '4GB' } });
  await migrate(postgres.url, { schema, directory: migrations }, silentLog);
  await fill(postgres.url, count);
  const service = await startService('webhook-intake', { DATABASE_URL: postgres.url, Intake__AccessTokens: token });
  return {
    port: service.port,
    async close() {
      service.end();
      await postgres.close();
    },
  };
}

async function run({ rounds, seconds }: Pace) {
  needWrk();
  const [many, few] = [await startSide(events.ours), await startSide(events.bound)];
  try {
    const rows = [];
    for (const [measure, path] of Object.entries(paths)) {
      const side = (port: number) => () => runWrk({ port, request: { path, headers: { authorization: `token ${token}` } }, connections, seconds });
      const measured = await interleaved(rounds, { ours: side(many.port), bound: side(few.port) });
      rows.push(compare(measured, ({ perSecond }) => perSecond, { measure, unit: '1/s', goal: { atLeast: 0.5 } }));
    }
    return rows;
  } finally {
    await many.close();
    await few.close();
  }
}

export const bench: Bench = { summary: `first pages of the dashboard API on ${events.ours} events; bound: the same on ${events.bound}`, run };
