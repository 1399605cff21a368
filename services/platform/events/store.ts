// All SQL of events of Signalbox' own: the table own_events, which the schema of each service has (own-events.sql).
import { v7 as uuidv7 } from 'uuid';
import { type Database, statement } from '../postgres/pool.ts';
import { insertRows } from '../postgres/rows.ts';

export type OwnEvent = {
  /** `listing.created`: the noun, then what happened to it. */
  readonly type: string;
  /** The id of what it happened to. The events of one object are posted in the order in which they were added. */
  readonly object: string;
  /** Members for rules and notifications; `title`, `text` and `url` are shown in notifications. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: Date;
};

export type ClaimedEvent = {
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  /** JSON text. */
  readonly data: string;
  readonly occurredAt: Date;
  readonly attempts: number;
  readonly claimedUntil: string;
};

const insert = insertRows<OwnEvent & { readonly id: string }>('ownEvents.insert', {
  into: 'own_events',
  columns: { id: 'uuid', type: 'text', object: 'text', data: 'json', at: 'occurred_at timestamptz' },
  orderBy: 'ordinal',
});

// Claims the oldest event of each object only: a later one must not overtake it, in this process or another one.
const claim = statement<ClaimedEvent, [limit: number, leaseMs: number]>(
  'ownEvents.claim',
  `
  update own_events set claimed_until = clock_timestamp() + $2 * interval '1 millisecond', attempts = attempts + 1
  where sequence in (
    select sequence from own_events head
    where sent_at is null and due_at <= now() and (claimed_until is null or claimed_until < now())
      and not exists (
        select from own_events earlier where earlier.object = head.object and earlier.sent_at is null and earlier.sequence < head.sequence
      )
    order by due_at, sequence limit $1
    for update skip locked
  )
  returning sequence, id, type, data::text as data, occurred_at as "occurredAt", attempts, claimed_until::text as "claimedUntil"`,
);

// Only while the claim is still held: a process that took the event over records its own outcome.
const end = statement<unknown, [sequence: number, claimedUntil: string]>(
  'ownEvents.end',
  `update own_events set sent_at = clock_timestamp(), claimed_until = null, last_error = null
   where sequence = $1 and claimed_until = $2::timestamptz and sent_at is null`,
);

// With the later events of its object, so that no claim looks at them meanwhile.
const postpone = statement<unknown, [sequence: number, claimedUntil: string, reason: string, afterMs: number]>(
  'ownEvents.postpone',
  `
  with failed as (
    update own_events set due_at = clock_timestamp() + $4 * interval '1 millisecond', claimed_until = null, last_error = $3
    where sequence = $1 and claimed_until = $2::timestamptz and sent_at is null
    returning object, due_at
  )
  update own_events later set due_at = failed.due_at from failed
  where later.object = failed.object and later.sequence > $1 and later.sent_at is null`,
);

const deleteSent = statement<unknown, [before: Date]>('ownEvents.deleteSent', 'delete from own_events where sent_at < $1');
const deleteUnsent = statement<unknown, [before: Date]>('ownEvents.deleteUnsent', 'delete from own_events where sent_at is null and occurred_at < $1');

export type WaitingEvents = { waiting: number; oldestSeconds: number };
const waiting = statement<WaitingEvents>(
  'ownEvents.waiting',
  `select count(*) as waiting, greatest(0, extract(epoch from now() - min(occurred_at)))::float8 as "oldestSeconds" from own_events where sent_at is null`,
);

/** @param inTransaction of the change that the events tell of: they are stored if it commits */
export const insertEvents = (inTransaction: Database, events: readonly OwnEvent[]) =>
  inTransaction.run(
    insert,
    events.map((event) => ({ ...event, id: uuidv7({ msecs: event.at.getTime() }) })),
  );

export type EventStore = ReturnType<typeof createEventStore>;

export const createEventStore = (database: Database) => ({
  claim: (limit: number, leaseMs: number) => database.all(claim, limit, leaseMs),
  end: ({ sequence, claimedUntil }: ClaimedEvent) => database.run(end, sequence, claimedUntil),
  postpone: ({ sequence, claimedUntil }: ClaimedEvent, reason: string, afterMs: number) => database.run(postpone, sequence, claimedUntil, reason, afterMs),
  deleteSent: (before: Date) => database.run(deleteSent, before),
  deleteUnsent: (before: Date) => database.run(deleteUnsent, before),
  waiting: async (): Promise<WaitingEvents> => (await database.first(waiting)) ?? { waiting: 0, oldestSeconds: 0 },
});
