// What the intake deletes, a batch at a time, by indexes that lead to what is expired and to nothing else.
import { type Database, type Statement, statement } from '../../platform/postgres/pool.ts';
import { typedTables } from '../typed/tables.ts';

/** Short enough to be done soon after somebody asked to stop. */
export const batchRows = 2000;

type Expiry = Statement<unknown, [before: Date, rows: number]>;

/** Rows that somebody is at are passed over: a deletion never waits for a worker that waits for it. */
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
  buckets: expiry('statistics_buckets', 'bucket_start'),
  // By the last event of them: the object itself may not have changed for years.
  typedRows: Object.values(typed).map(({ name }) => ({ name, deleteBatch: expiry(name, 'event_received_at', processed) })),
  workflowRuns: expiry(workflowRuns.name, 'event_received_at'),
  // With those whom they told; then what was to be told, once nobody waits for it.
  sentMessages: expiry('outbox_messages', 'ended_at'),
  notifications: expiry(
    'outbox',
    'created_at',
    'and not exists (select from outbox_recipients waiting where waiting.event_id = outbox.event_id and waiting.rule = outbox.rule)',
  ),
  workerRuns: expiry('worker_runs', 'finished_at'),
};

// Tombstones are counted by themselves: a deleted release takes no place of one that is there.
const deleteReleases = statement<unknown, [kept: number, rows: number]>(
  'intake.expire.releases',
  `
  delete from releases where id = any(array(
    select id from (
      select id, row_number() over (
        partition by repository, deleted_at is null order by coalesce(published_at, created_at, updated_at) desc, id desc) as place
      from releases) ranked
    where place > $1 limit $2))`,
);

/** Those beyond the newest of each repository. */
export const expireReleases = (database: Database, kept: number) => database.run(deleteReleases, kept, batchRows);

// From one kind of event to the next by index, as many steps as there are kinds.
const kindsOfEvents = statement<{ source: string; event: string }>(
  'intake.expire.kinds',
  `
  with recursive kinds (source, event) as (
    (select source, event from events order by source, event limit 1)
    union all
    select following.source, following.event from kinds
    cross join lateral (
      select e.source, e.event from events e where (e.source, e.event) > (kinds.source, kinds.event) order by e.source, e.event limit 1) following
  )
  select source, event from kinds where source <> 'forge'`,
);

const oldestOfKind = statement<{ id: string; receivedAt: Date }, [source: string, event: string, before: Date, rows: number]>(
  'intake.expire.oldestOfKind',
  `
  select id, received_at as "receivedAt" from events where source = $1 and event = $2 and received_at < $3 order by received_at, id limit $4`,
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

/** Of the direct sources, with their payloads. @returns how many, 0 when there are no more */
export async function expireSourceEvents(database: Database, before: Date): Promise<number> {
  for (const { source, event } of await database.all(kindsOfEvents)) {
    const old = await database.all(oldestOfKind, source, event, before, batchRows);
    const [first, last] = [old[0], old.at(-1)];
    if (!first || !last) continue;
    const ids = old.map(({ id }) => id);
    await database.run(deletePayloads, ids, first.receivedAt, last.receivedAt);
    return database.run(deleteEvents, ids, first.receivedAt, last.receivedAt);
  }
  return 0;
}
