// All SQL of the dashboard.
import knex from 'knex';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { type Event, type ProcessingCounts, type ProcessingState, processingStates, type Sender, type StatisticsPoint } from '../contract.ts';
import { selectList, type TypedItem } from '../typed/columns.ts';
import { PullRequest } from '../typed/pull-requests.ts';
import { typedTables } from '../typed/tables.ts';
import { ownFilters, type TypedQuery, type TypedTable } from '../typed/typed-table.ts';
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

const pullRequest = statement<PullRequest, [repository: string, number: number]>(
  'dashboard.pullRequest',
  `
  select ${selectList(PullRequest)} from pull_requests where repository = $1 and number = $2 order by updated_at desc, id desc limit 1`,
);

// What waits has an index of its own, and all rows are counted by the primary key's: no table is read for it.
const counts = statement<{ table: string; state: ProcessingState | null; rows: number }>(
  'dashboard.processingCounts',
  Object.entries(typedTables)
    .map(
      ([key, { name }]) => `
    select '${key}' as table, processing_state as state, count(*) as rows from ${name} where processing_state <> 'PROCESSED' group by processing_state
    union all select '${key}', null, count(*) from ${name}`,
    )
    .join(' union all '),
);

const none: ProcessingCounts = { NEW: 0, PROCESSING: 0, PROCESSED: 0, UPDATED: 0, RE_REQUESTED: 0 };

export type DashboardStore = ReturnType<typeof createDashboardStore>;

export const createDashboardStore = (database: Database) => ({ ...eventQueries(database), ...overviewQueries(database), ...typedQueries(database) });

const eventQueries = (database: Database) => ({
  /** Newest first; one more than the limit, where there are more. */
  async newestEvents({ from, to, ...filter }: EventFilter, { limit, after }: TimePage): Promise<Event[]> {
    const query = builder
      .from('events')
      .select(builder.raw(columns))
      .orderBy([
        { column: 'received_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit + 1);
    for (const [column, value] of Object.entries(filter)) if (value !== undefined) query.where(column, value);
    // The index of events by name begins with their source, which Postgres cannot skip before version 18.
    if (filter.event !== undefined && filter.source === undefined)
      query.whereIn(
        'source',
        (await database.all(sources)).map(({ source }) => source),
      );
    if (from) query.where('received_at', '>=', from);
    if (to) query.where('received_at', '<', to);
    if (after) query.whereRaw('(received_at, id) < (?, ?)', [new Date(after[0]), after[1]]);
    return database.select<Event>(query);
  },
  event: (id: string) => database.first(byId, id),
  payload: ({ id, receivedAt }: Pick<Event, 'id' | 'receivedAt'>) => database.first(payloadOf, id, receivedAt),
  /** Whether the log holds anything that only a pull request of this number can have caused. */
  knowsPullRequest: async (repository: string, number: number) => (await database.first(aboutPullRequest, repository, number)) !== undefined,
});

const overviewQueries = (database: Database) => ({
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
});

const typedQueries = (database: Database) => ({
  /** What changed last comes first; one more than the limit, where there are more. */
  async newestRows<Item extends TypedItem>({ name, item, filters }: TypedTable<Item>, query: TypedQuery): Promise<Item[]> {
    const { limit, after, processingState, deleted } = query;
    const select = builder
      .from(name)
      .select(builder.raw(selectList(item)))
      .orderBy([
        { column: 'updated_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit + 1);
    for (const filter of ownFilters) {
      const [column, value] = [filters[filter], query[filter]];
      if (column !== undefined && value !== undefined) select.where(column, value);
    }
    if (processingState !== undefined) select.where('processing_state', processingState);
    if (deleted !== undefined) select.whereRaw(deleted === 'true' ? 'deleted_at is not null' : 'deleted_at is null');
    if (after) select.whereRaw('(updated_at, id) < (?, ?)', [new Date(after[0]), after[1]]);
    return database.select<Item>(select);
  },

  /** Those first seen longest ago come first. Each state is read in order by its index, and no more of it than a page. */
  async rowsInStates<Item extends TypedItem>(
    { name, item }: TypedTable<Item>,
    { states, limit, after }: { readonly states: readonly ProcessingState[]; readonly limit: number; readonly after: string | undefined },
  ): Promise<Item[]> {
    const ofState = (state: ProcessingState) => {
      const select = builder
        .from(name)
        .select('*')
        .where('processing_state', state)
        .orderBy('id')
        .limit(limit + 1);
      return after === undefined ? select : select.where('id', '>', after);
    };
    const rows = builder.unionAll(states.map(ofState), true).as('waiting');
    return database.select<Item>(
      builder
        .from(rows)
        .select(builder.raw(selectList(item)))
        .orderBy('id')
        .limit(limit + 1),
    );
  },

  pullRequest: (repository: string, number: number) => database.first(pullRequest, repository, number),

  async processingCounts(): Promise<Record<string, ProcessingCounts>> {
    const rows = await database.all(counts);
    const tables = Object.keys(typedTables).map((table) => {
      const own = rows.filter((row) => row.table === table);
      const waiting = { ...none, ...Object.fromEntries(own.flatMap(({ state, rows: number }) => (state === null ? [] : [[state, number]]))) };
      const total = own.find(({ state }) => state === null)?.rows ?? 0;
      return [table, { ...waiting, PROCESSED: processingStates.reduce((left, state) => left - waiting[state], total) }] as const;
    });
    return Object.fromEntries(tables);
  },
});
