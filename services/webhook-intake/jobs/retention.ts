// The deletions of the intake, a batch at a time, by indexes that lead to expired rows only.
import { type Database, type Statement, statement } from '../../platform/postgres/pool.ts';
import { typedTables } from '../typed/tables.ts';

/** Short enough to end soon after a stop. */
export const batchRows = 2000;

type Expiry = Statement<unknown, [before: Date, rows: number]>;

/** Locked rows are skipped: a deletion never waits for a worker that waits for it. */
const expiry = (table: string, column: string, condition = ''): Expiry =>
  statement(
    `intake.expire.${table}`,
    `
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where ${column} < $1 ${condition} order by ${column} limit $2 for update skip locked))`,
  );

const { releases: _, workflowRuns, ...typed } = typedTables;
const processed = `and processing_state = 'PROCESSED'`;

/** By table; what is in the default partitions is not in any month that could be dropped. */
export const expiries = {
  payloadsInNoMonth: expiry('event_payloads_default', 'received_at'),
  eventsInNoMonth: expiry('events_default', 'received_at'),
  deduplicationKeys: expiry('delivery_keys', 'stored_at'),
  trackedDeliveries: expiry('tracked_deliveries', 'tracked_at'),
  duplicates: expiry('duplicate_deliveries', 'received_at'),
  buckets: expiry('statistics_buckets', 'bucket_start'),
  hours: expiry('statistics_hours', 'hour_start'),
  // By the last event of them: the object itself may not have changed for years.
  typedRows: Object.values(typed).map(({ name }) => ({ name, deleteBatch: expiry(name, 'event_received_at', processed) })),
  workflowRuns: expiry(workflowRuns.name, 'event_received_at'),
  // Messages go with their recipients; then notices, once no recipient waits for them.
  sentMessages: expiry('outbox_messages', 'ended_at'),
  notifications: expiry(
    'outbox',
    'created_at',
    `and not exists (
      select from outbox_recipients waiting
      where waiting.event_id = outbox.event_id and waiting.rule = outbox.rule and waiting.replay = outbox.replay)`,
  ),
  workerRuns: expiry('worker_runs', 'finished_at'),
};

// Tombstones are counted by themselves: a deleted release takes no place of one that is there. From one repository to the next by index, and
// of each those that come behind the ones that stay.
const deleteReleases = statement<unknown, [kept: number, rows: number]>(
  'intake.expire.releases',
  `
  with recursive places (forge, repository, is_there) as (
    (select forge, coalesce(repository, ''), deleted_at is null from releases order by 1, 2, 3 limit 1)
    union all
    select following.* from places
    cross join lateral (
      select forge, coalesce(repository, ''), deleted_at is null from releases
      where (forge, coalesce(repository, ''), deleted_at is null) > (places.forge, places.repository, places.is_there)
      order by 1, 2, 3 limit 1) following
  )
  delete from releases where id = any(array(
    select beyond.id from places
    cross join lateral (
      select id from releases
      where forge = places.forge and coalesce(repository, '') = places.repository and (deleted_at is null) = places.is_there
      order by coalesce(published_at, created_at, updated_at) desc, id desc offset $1) beyond
    limit $2))`,
);

/** Deletes releases beyond the newest of each repository. */
export const expireReleases = (database: Database, kept: number) => database.run(deleteReleases, kept, batchRows);

// From one source to the next by index, as many steps as there are.
const sources = statement<{ source: string }>(
  'intake.expire.sources',
  `
  with recursive known (source) as (
    (select source from events order by source limit 1)
    union all
    select following.source from known
    cross join lateral (select e.source from events e where e.source > known.source order by e.source limit 1) following
  )
  select source from known where source <> 'forge'`,
);

const oldestOfSource = statement<{ id: string; receivedAt: Date }, [source: string, before: Date, rows: number]>(
  'intake.expire.oldestOfSource',
  `
  select id, received_at as "receivedAt" from events
  where source >= $1 and (source, received_at) < ($1, $2) order by source, received_at, id limit $3`,
);

// The span of time leads to the partitions.
const inSpan = 'received_at >= $2 and received_at <= $3';
const deletePayloads = statement<unknown, [ids: readonly string[], from: Date, to: Date]>(
  'intake.expire.payloadsOfSources',
  `delete from event_payloads where event_id = any($1::uuid[]) and ${inSpan}`,
);
const deleteEvents = statement<unknown, [ids: readonly string[], from: Date, to: Date]>(
  'intake.expire.eventsOfSources',
  `delete from events where id = any($1::uuid[]) and ${inSpan}`,
);

/** Deletes events of direct sources with their payloads. @returns how many, 0 when there are no more */
export async function expireSourceEvents(database: Database, before: Date): Promise<number> {
  for (const { source } of await database.all(sources)) {
    const old = await database.all(oldestOfSource, source, before, batchRows);
    const [first, last] = [old[0], old.at(-1)];
    if (!first || !last) continue;
    const ids = old.map(({ id }) => id);
    await database.run(deletePayloads, ids, first.receivedAt, last.receivedAt);
    return database.run(deleteEvents, ids, first.receivedAt, last.receivedAt);
  }
  return 0;
}
