// All SQL of the event log's readers.
import knex from 'knex';
import { type Database, statement } from '../../../platform/postgres/pool.ts';
import type { Event } from '../../contract.ts';
import type { TimePage } from '../paging.ts';

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

const builder = knex({ client: 'pg' });

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

export type EventStore = ReturnType<typeof createEventStore>;

export const createEventStore = (database: Database) => ({
  /** Newest first; one more than the limit, where there are more. */
  async newest({ from, to, ...filter }: EventFilter, { limit, after }: TimePage): Promise<Event[]> {
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
  find: (id: string) => database.first(byId, id),
  payload: ({ id, receivedAt }: Pick<Event, 'id' | 'receivedAt'>) => database.first(payloadOf, id, receivedAt),
  /** Whether the log holds anything that only a pull request of this number can have caused. */
  knowsPullRequest: async (repository: string, number: number) => (await database.first(aboutPullRequest, repository, number)) !== undefined,
});
