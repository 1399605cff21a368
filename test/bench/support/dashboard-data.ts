// Events and typed rows of a benchmark of the dashboard API, and the first pages of its routes.
import pg from 'pg';
import { silentLog } from '../../../services/platform/log.ts';
import { makePartitions } from '../../../services/platform/postgres/partitions.ts';
import { createPool } from '../../../services/platform/postgres/pool.ts';
import { schema } from '../../services/webhook-intake/intake-database.ts';
import { withoutIndexes } from './without-indexes.ts';

const firstDay = new Date('2026-01-01T00:00:00Z');

/** Measure → path: each filter alone, and some together. */
export const dashboardPaths = {
  events: '/api/v1/events',
  'events of one event': '/api/v1/events?event=push',
  'events of a repository': '/api/v1/events?repository=railway/r7',
  'events of a sender': '/api/v1/events?sender=s7&from=2026-01-02T00:00:00Z',
  'events of a repository by event': '/api/v1/events?repository=railway/r7&event=push',
  'events of a repository and a sender that never meet': '/api/v1/events?repository=railway/r7&sender=s8',
  'events of a source that has gone': '/api/v1/events?source=snyk',
  'events of an action': '/api/v1/events?action=closed',
  'events of a class of senders': '/api/v1/events?senderClass=bot',
  'events of a least score': '/api/v1/events?minScore=9',
  'events with a word': '/api/v1/events?q=sentence',
  'events with a word that is not there': '/api/v1/events?q=nowhere',
  'one event': '/api/v1/events?limit=1',
  facets: '/api/v1/events/facets',
  counts: '/api/v1/counts',
  trace: '/api/v1/trace/77',
  senders: '/api/v1/senders',
  'statistics of a week': '/api/v1/statistics?from=2026-01-05T00:00:00Z&to=2026-01-12T00:00:00Z',
  'issues of a repository': '/api/v1/issues?repository=railway/r7',
  'issues of a repository in a state that is rare': '/api/v1/issues?repository=railway/r7&processingState=NEW',
  'issues not processed': '/api/v1/issues/processing',
  'a pull request': '/api/v1/repositories/railway/r7/pulls/7',
  'processing state': '/api/v1/processing-state',
  recent: '/api/v1/recent',
};

/** A hundred times the events of a busy year make fewer issues than that. */
const mostTyped = 1_000_000;

/** Over half a year, by 100 senders in 20 repositories: a filter finds a page or more among however many. */
export async function fillDashboard(url: string, count: number): Promise<void> {
  const pool = createPool(url, { schema, log: silentLog });
  await makePartitions(pool, 'events', { from: firstDay, ahead: 6 });
  await pool.close();
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` });
  await client.connect();
  const at = `timestamptz '${firstDay.toISOString()}' + n * interval '${15_000_000 / count} seconds'`;
  await withoutIndexes(client, ['events', 'issues', 'pull_requests'], async () => {
    await client.query(
      `insert into events (id, source, forge, event, action, repository, number, sender, sender_class, title, position, delivery_id, hook_id, target_id, score,
         is_core_function, bytes, received_at, stored_at, headers)
       select gen_random_uuid(), case when n <= $1 / 2 and n % 10 = 0 then 'snyk' else 'forge' end, 'github.com', case when n % 3 = 0 then 'push' else 'pull_request' end,
         case when n % 3 <> 0 then (array['opened', 'closed', 'edited'])[1 + n % 3] end, 'railway/r' || n % 20, n % 100, 's' || n % 100,
         (array['person', 'bot', 'owner'])[1 + n % 3], case when n % ($1 / 100) = 0 then 'a rare sentence' else 'title ' || n % 1000 end, n, n::text, '1', '2', 1 + n % 10,
         true, 100, ${at}, now(), '{}' from generate_series(1, $1::int) n`,
      [count],
    );
    await client.query(
      `insert into statistics_buckets (bucket_start, source, event, received, duplicates, bytes) select date_bin('6 hours', received_at, timestamptz '2000-01-01Z'), source, event, count(*), 0, sum(bytes) from events group by 1, 2, 3`,
    );
    for (const table of ['issues', 'pull_requests'])
      await client.query(
        `insert into ${table} (id, forge, object_key, forge_id, repository, processing_state, first_seen_at, updated_at, event_received_at, version, delivery_id, hook_id, target_id, rest, number)
         select gen_random_uuid(), 'github.com', n::text, n::text, 'railway/r' || n % 20, case when n % 100 = 0 then 'NEW' else 'PROCESSED' end, ${at}, ${at}, ${at}, n::text, n::text, '1', '2', '{}', n / 20
         from generate_series(1, $1::int) n`,
        [Math.min(count, mostTyped)],
      );
  });
  await client.end();
}
