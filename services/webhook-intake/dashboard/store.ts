// All SQL of the dashboard.
import knex from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Event, ProcessingCounts, ProcessingState, Sender, StatisticsPoint } from '../contract.ts';
import { typedTables } from '../typed/tables.ts';
import { selectList, type TypedItem, type TypedQuery, type TypedTable } from '../typed/typed-table.ts';
import type { TimePage } from './paging.ts';

const builder = knex({ client: 'pg' });

export type EventFilter = {
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly repository?: string | undefined;
  readonly sender?: string | undefined;
  /** Of the issue or pull request. */
  readonly number?: number | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

export type StoredPayload = { readonly isGzip: boolean; readonly body: Buffer };
export type EventWithHeaders = Event & { readonly headers: Readonly<Record<string, string>> };

const columns = `id, source, event, action, repository, sender, sender_class as "senderClass", delivery_id as "deliveryId",
  hook_id as "hookId", target_id as "targetId", score, is_core_function as "isCoreFunction", bytes,
  received_at as "receivedAt", stored_at as "storedAt"`;

const byId = statement<EventWithHeaders, [id: string]>('dashboard.event', `select ${columns}, headers from events where id = $1`);

const payloadOf = statement<StoredPayload, [id: string, receivedAt: Date]>(
  'dashboard.payload',
  `
  select is_gzip as "isGzip", body from event_payloads where event_id = $1 and received_at = $2`,
);

// From one source to the next by index: as many steps as there are sources, however many events.
const sources = statement<{ source: string }>(
  'dashboard.sources',
  `
  with recursive known as (
    (select source from events order by source limit 1)
    union all
    select (select e.source from events e where e.source > known.source order by e.source limit 1) from known where known.source is not null
  )
  select source from known where source is not null`,
);

const aboutPullRequest = statement<{ id: string }, [repository: string, number: number]>(
  'dashboard.aboutPullRequest',
  `
  select id from events where repository = $1 and number = $2 and event like 'pull\\_request%' limit 1`,
);

export type Bucket = StatisticsPoint & { readonly source: string; readonly event: string };

// From one sender to the next by index, then each one's first, newest and number of events by the same index.
const senders = statement<Sender, [after: string, rows: number]>(
  'dashboard.senders',
  `
  with recursive logins as (
    (select sender, 1 as row from events where sender > $1 order by sender limit 1)
    union all
    select (select e.sender from events e where e.sender > logins.sender order by e.sender limit 1), row + 1
    from logins where logins.sender is not null and row < $2
  )
  select logins.sender, newest.sender_class as "senderClass", total.events, oldest.received_at as "firstEventAt", newest.received_at as "lastEventAt"
  from logins
  cross join lateral (select e.sender_class, e.received_at from events e where e.sender = logins.sender order by e.received_at desc, e.id desc limit 1) newest
  cross join lateral (select e.received_at from events e where e.sender = logins.sender order by e.received_at, e.id limit 1) oldest
  cross join lateral (select count(*) as events from events e where e.sender = logins.sender) total
  where logins.sender is not null
  order by logins.sender`,
);

const pullRequest = statement<TypedItem, [repository: string, number: number]>(
  'dashboard.pullRequest',
  `
  select ${selectList(typedTables.pullRequests)} from pull_requests where repository = $1 and number = $2 order by updated_at desc, id desc limit 1`,
);

// What waits has an index of its own, and all rows are counted by the primary key's: no table is read for it.
const counts = statement<ProcessingCounts & { readonly table: string }>(
  'dashboard.processingCounts',
  Object.entries(typedTables)
    .map(
      ([key, { name }]) => `
    select '${key}' as table,
      count(*) filter (where processing_state = 'NEW') as "NEW",
      count(*) filter (where processing_state = 'PROCESSING') as "PROCESSING",
      (select count(*) from ${name}) - count(*) as "PROCESSED",
      count(*) filter (where processing_state = 'UPDATED') as "UPDATED",
      count(*) filter (where processing_state = 'RE_REQUESTED') as "RE_REQUESTED"
    from ${name} where processing_state <> 'PROCESSED'`,
    )
    .join(' union all '),
);

/** The newest by a column of time come first; one row more than the limit, where there are more. */
function newestFirst(table: string, { time, columns }: { readonly time: string; readonly columns: string }, { limit, after }: TimePage) {
  const query = builder
    .from(table)
    .select(builder.raw(columns))
    .orderBy([
      { column: time, order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(limit + 1);
  if (after) query.whereRaw('(??, id) < (?, ?)', [time, new Date(after[0]), after[1]]);
  return query;
}

export type DashboardStore = ReturnType<typeof createDashboardStore>;

export const createDashboardStore = (database: Database) => ({
  /** Newest first; one more than the limit, where there are more. */
  async newestEvents({ from, to, ...filter }: EventFilter, page: TimePage): Promise<Event[]> {
    const query = newestFirst('events', { time: 'received_at', columns }, page);
    for (const [column, value] of Object.entries(filter)) if (value !== undefined) query.where(column, value);
    // The index of events by name begins with their source, which Postgres cannot skip before version 18.
    if (filter.event !== undefined && filter.source === undefined)
      query.whereIn(
        'source',
        (await database.all(sources)).map(({ source }) => source),
      );
    if (from) query.where('received_at', '>=', from);
    if (to) query.where('received_at', '<', to);
    return database.select<Event>(query);
  },
  event: (id: string) => database.first(byId, id),
  payload: ({ id, receivedAt }: Pick<Event, 'id' | 'receivedAt'>) => database.first(payloadOf, id, receivedAt),
  /** Whether the log holds anything that only a pull request of this number can have caused. */
  knowsPullRequest: async (repository: string, number: number) => (await database.first(aboutPullRequest, repository, number)) !== undefined,

  /** In order of source, event and time. */
  buckets({ source, event, from, to }: Pick<EventFilter, 'source' | 'event' | 'from' | 'to'>): Promise<Bucket[]> {
    const query = builder
      .from('statistics_buckets')
      .select('source', 'event', { start: 'bucket_start' }, 'received', 'duplicates', 'bytes')
      .orderBy(['source', 'event', 'bucket_start']);
    if (source !== undefined) query.where({ source });
    if (event !== undefined) query.where({ event });
    if (from) query.where('bucket_start', '>=', from);
    if (to) query.where('bucket_start', '<', to);
    return database.select<Bucket>(query);
  },

  /** In order of their logins, those behind `after`. */
  senders: (after: string, rows: number) => database.all(senders, after, rows),

  /** What changed last comes first; one more than the limit, where there are more. */
  newestRows(table: TypedTable, { limit, after, ...query }: TypedQuery): Promise<TypedItem[]> {
    const select = newestFirst(table.name, { time: 'updated_at', columns: selectList(table) }, { limit, after });
    const asked = new Map(Object.entries(query));
    for (const [filter, column] of Object.entries(table.filters)) {
      const value = asked.get(filter);
      if (value === undefined) continue;
      if (filter !== 'deleted') select.where(column, value);
      else if (value === 'true') select.whereNotNull(column);
      else select.whereNull(column);
    }
    return database.select<TypedItem>(select);
  },

  /** Those first seen longest ago come first. Each state is read in order by its index, and no more of it than a page. */
  rowsInStates(
    table: TypedTable,
    { states, limit, after }: { readonly states: readonly ProcessingState[]; readonly limit: number; readonly after: string | undefined },
  ): Promise<TypedItem[]> {
    const ofState = (state: ProcessingState) => {
      const select = builder
        .from(table.name)
        .select('*')
        .where('processing_state', state)
        .orderBy('id')
        .limit(limit + 1);
      return after === undefined ? select : select.where('id', '>', after);
    };
    const rows = builder.unionAll(states.map(ofState), true).as('waiting');
    return database.select<TypedItem>(
      builder
        .from(rows)
        .select(builder.raw(selectList(table)))
        .orderBy('id')
        .limit(limit + 1),
    );
  },

  pullRequest: (repository: string, number: number) => database.first(pullRequest, repository, number),

  async processingCounts(): Promise<Record<string, ProcessingCounts>> {
    const rows = await database.all(counts);
    return Object.fromEntries(rows.map(({ table, ...states }) => [table, states]));
  },
});
