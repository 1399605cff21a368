// All SQL of the dashboard.
import knex from 'knex';
import { NIL } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { isGuid } from '../../platform/schema.ts';
import { type Event, type ProcessingCounts, type ProcessingState, processingStates, type Sender, type StatisticsPoint } from '../contract.ts';
import { eventColumns, payloadBytesOf, payloadJsonOf } from '../stored-events.ts';
import { typedTables } from '../typed/tables.ts';
import { selectList, type TypedFilter, type TypedItem, type TypedQuery, type TypedTable } from '../typed/typed-table.ts';
import { anyCase, conditionsOf, type EventFilter, ofColumn, ofRepository } from './event-filter.ts';
import { facetColumns, type FacetRows, mostFacetValues } from './facets.ts';
import { type Conditions, type List, matching, newest, type NewestRows } from './newest.ts';
import { lowered, type TimePage } from '../paging.ts';

const builder = knex({ client: 'pg' });

export type EventWithHeaders = Event & { readonly headers: Readonly<Record<string, string>> };

const byId = statement<EventWithHeaders, [id: string]>('dashboard.event', `select ${eventColumns}, headers from events where id = $1`);

export type Bucket = StatisticsPoint & { readonly source: string; readonly event: string };

const bucketsOf = {
  sixHours: { table: 'statistics_buckets', start: 'bucket_start' },
  hour: { table: 'statistics_hours', start: 'hour_start' },
} as const;

/** As far as anything is counted. */
const mostCounted = 1000;

// From one sender to the next by index, then each one's first, newest and number of events by the same index: as a range in its order, since
// with an equality Postgres may look for the newest of all senders until it reaches that sender.
const ofSender = 'from events e where e.sender >= logins.sender and e.sender <= logins.sender order by e.sender';
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
  cross join lateral (select e.sender_class, e.received_at ${ofSender} desc, e.received_at desc, e.id desc limit 1) newest
  cross join lateral (select e.received_at ${ofSender}, e.received_at, e.id limit 1) oldest
  cross join lateral (select count(*) as events from (select ${ofSender}, e.received_at, e.id limit ${mostCounted}) counted) total
  where logins.sender is not null
  order by logins.sender`,
);

const pullRequest = statement<TypedItem, [repository: string, number: number, forge: string | null]>(
  'dashboard.pullRequest',
  `
  select ${selectList(typedTables.pullRequests)} from pull_requests
  where ${anyCase} = $1 and number = $2 and ($3::text is null or forge = $3) order by deleted_at is not null, updated_at desc, id desc limit 1`,
);

const countOf = (table: string, state: ProcessingState) =>
  `(select count(*) from (select from ${table} where processing_state >= '${state}' and processing_state <= '${state}' order by processing_state, id limit ${mostCounted}) counted) as "${state}"`;
const counts = statement<ProcessingCounts & { readonly table: string }>(
  'dashboard.processingCounts',
  Object.entries(typedTables)
    .map(([key, { name }]) => `select '${key}' as table, ${processingStates.map((state) => countOf(name, state)).join(', ')}`)
    .join(' union all '),
);

const countedRuns = 20_000;

export type RunCount = { readonly start: Date; readonly conclusion: string | null; readonly runs: number; readonly seconds: number | null };

const events: List = { table: 'events', time: 'received_at', columns: eventColumns };

/** The rows that wait, and tombstones, have an index; most rows do not wait, and are there. */
function conditionOf(column: string, value: string): Conditions {
  if (column === 'repository') return { leading: [ofRepository(value)] };
  if (column === 'deleted_at')
    return value === 'true'
      ? { leading: [{ keys: { '(deleted_at is not null)': true }, within: 'deleted_at is not null' }] }
      : { others: [{ sql: 'deleted_at is null' }] };
  if (column === 'processing_state')
    return value === 'PROCESSED'
      ? { others: [{ sql: `processing_state = 'PROCESSED'` }] }
      : { leading: [{ keys: { processing_state: value }, within: `processing_state <> 'PROCESSED'` }] };
  return { leading: [ofColumn(column, value)] };
}

const typedList = (table: TypedTable): List => ({ table: table.name, time: 'updated_at', columns: selectList(table) });

function typedConditions(table: TypedTable, { from, to, ...filter }: TypedFilter): Conditions {
  const asked = new Map(Object.entries(filter));
  const conditions = Object.entries(table.filters).flatMap(([name, column]) => {
    const value = asked.get(name);
    return value === undefined ? [] : [conditionOf(column, value)];
  });
  return { leading: conditions.flatMap(({ leading = [] }) => leading), others: conditions.flatMap(({ others = [] }) => others), from, to };
}

const facetedRows = 10_000;

/** The most frequent values of each member among the newest events that pass; the facet '' has their number. */
async function countFacets(database: Database, filter: EventFilter): Promise<FacetRows> {
  const { rows: matched, end } = await matching(database, events, { ...conditionsOf(filter), lookAt: facetedRows });
  const columns = Object.values(facetColumns);
  const counted = Object.entries(facetColumns).map(([facet, column]) =>
    builder
      .from('matched')
      .select(builder.raw('? ::text as facet', [facet]), { value: column })
      .count('* as count')
      .whereNotNull(column)
      .groupBy(column)
      .orderByRaw('count(*) desc, 2')
      .limit(mostFacetValues),
  );
  const total = builder.from('matched').select(builder.raw(`'' as facet, null as value`)).count('* as count');
  const query = builder.with('matched', matched.select(columns)).unionAll([total, ...counted], true);
  return { rows: await database.select<FacetRows['rows'][number]>(query), from: end ? new Date(end[0]) : null };
}

export type EventKey = Pick<Event, 'id' | 'receivedAt'>;
const eventKeys: List = { ...events, columns: 'id, received_at as "receivedAt"' };

export type DashboardStore = ReturnType<typeof createDashboardStore>;

export const createDashboardStore = (database: Database) => ({
  newestEvents: (filter: EventFilter, page: TimePage) => newest<Event>(database, events, { ...conditionsOf(filter), ...page }),
  /** The same without anything but what tells the place in the log. */
  newestKeys: (filter: EventFilter, page: TimePage) => newest<EventKey>(database, eventKeys, { ...conditionsOf(filter), ...page }),
  event: async (id: string) => (isGuid(id) ? database.first(byId, id) : undefined),
  payload: (event: Pick<Event, 'id' | 'receivedAt'>) => payloadJsonOf(database, event),
  payloadBytes: (event: Pick<Event, 'id' | 'receivedAt'>) => payloadBytesOf(database, event),

  facets: (filter: EventFilter) => countFacets(database, filter),
  /** Whether the log holds anything that only a pull request of this number can have caused. */
  async knowsPullRequest(filter: Pick<EventFilter, 'repository' | 'number' | 'forge'>): Promise<boolean> {
    const others = [{ sql: `event like 'pull\\_request%'` }];
    return (await newest(database, events, { ...conditionsOf(filter), others, limit: 1 })).rows.length > 0;
  },

  /** In order of source, event and time. */
  buckets({ source, forge, event, from, to }: Pick<EventFilter, 'source' | 'forge' | 'event' | 'from' | 'to'>, of: keyof typeof bucketsOf): Promise<Bucket[]> {
    const { table, start } = bucketsOf[of];
    const query = builder
      .from(table)
      .select('source', 'event', { start })
      .sum({ received: 'received', duplicates: 'duplicates', bytes: 'bytes' })
      .groupBy(['source', 'event', start])
      .orderBy(['source', 'event', start]);
    if (source !== undefined) query.where({ source });
    if (forge !== undefined) query.where({ forge });
    if (event !== undefined) query.where({ event });
    if (from) query.where(start, '>=', from);
    if (to) query.where(start, '<', to);
    return database.select<Bucket>(query);
  },

  /** In order of their logins, those behind `after`. */
  senders: (after: string, rows: number) => database.all(senders, after, rows),

  /** Sorted by the last change, newest first. */
  newestRows: (table: TypedTable, { limit, after, ...filter }: TypedQuery): Promise<NewestRows<TypedItem>> =>
    newest<TypedItem>(database, typedList(table), { ...typedConditions(table, filter), limit, after }),

  /** Workflow runs among the newest that pass, in quarters of an hour, which days of every time zone are made of; in order of time. */
  async workflowRunCounts(filter: TypedFilter): Promise<{ readonly rows: readonly RunCount[]; readonly from: Date | null }> {
    const { workflowRuns } = typedTables;
    const { rows, end } = await matching(database, typedList(workflowRuns), { ...typedConditions(workflowRuns, filter), lookAt: countedRuns });
    const quarter = 'to_timestamp(floor(extract(epoch from updated_at) / 900) * 900)';
    const query = rows
      .select(builder.raw(`${quarter} as start, conclusion, count(*) as runs, sum(extract(epoch from updated_at - run_started_at)) as seconds`))
      .groupByRaw('1, 2')
      .orderByRaw('1, 2');
    return { rows: await database.select<RunCount>(query), from: end ? new Date(end[0]) : null };
  },

  /** Sorted by first sight, oldest first. Each state is read in order by its index, and no more of it than a page. */
  rowsInStates(
    table: TypedTable,
    { states, limit, after }: { readonly states: readonly ProcessingState[]; readonly limit: number; readonly after: string | undefined },
  ): Promise<TypedItem[]> {
    const ofState = (state: ProcessingState) => {
      // A range in the order of the index, as of every list.
      const select = builder
        .from(table.name)
        .select('*')
        .whereRaw('(processing_state, id) >= (?, ?)', [state, after ?? NIL])
        .where('processing_state', '<=', state)
        .orderBy(['processing_state', 'id'])
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

  /** An existing one before a deleted one: its repository may have been created again. */
  pullRequest: (repository: string, number: number, forge?: string) => database.first(pullRequest, lowered(repository), number, forge ?? null),

  async processingCounts(): Promise<Record<string, ProcessingCounts>> {
    const rows = await database.all(counts);
    return Object.fromEntries(rows.map(({ table, ...states }) => [table, states]));
  },
});
