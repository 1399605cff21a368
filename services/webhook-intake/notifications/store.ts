// All SQL of sending: recipients with waiting notices, the messages made of them, claims and outcomes.
import { v7 as uuidv7 } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { compose, longestDigest } from './composing.ts';
import type { Event } from '../contract.ts';
import { eventColumns, payloadTextOf } from '../stored-events.ts';
import type { Notice } from './notice.ts';

export type ClaimedMessage = {
  readonly id: string;
  readonly recipient: string;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly claimedUntil: string;
};

const lock = statement<{ locked: boolean }, [name: string]>('intake.notify.lock', 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked');

type WaitingRecipient = { recipient: string; pending: number; sent: number };
const waitingRecipients = statement<WaitingRecipient, [channel: string]>(
  'intake.notify.waitingRecipients',
  `
  select recipient, load.pending, load.sent
  from (select distinct recipient from outbox_recipients where channel = $1 and message_id is null) as waiting
  cross join lateral (
    select count(*) filter (where m.state = 'pending') as pending, count(*) filter (where m.state = 'sent') as sent
    from outbox_messages m
    where m.channel = $1 and m.recipient = waiting.recipient and (m.ended_at is null or m.ended_at > now() - interval '1 hour')
  ) as load
  order by recipient`,
);

const waiting = statement<{ id: number }, [channel: string, recipient: string, limit: number]>(
  'intake.notify.waiting',
  'select id from outbox_recipients where channel = $1 and recipient = $2 and message_id is null order by id limit $3',
);

const makeMessage = statement<unknown, [id: string, channel: string, recipient: string, notifications: readonly number[]]>(
  'intake.notify.makeMessage',
  `
  with made as (
    insert into outbox_messages (id, channel, recipient, due_at, created_at) values ($1, $2, $3, now(), now())
  )
  update outbox_recipients set message_id = $1 where id = any ($4::bigint[])`,
);

const claim = statement<ClaimedMessage, [channel: string, limit: number, leaseMs: number, except: readonly string[]]>(
  'intake.notify.claim',
  `
  update outbox_messages set claimed_until = clock_timestamp() + $3 * interval '1 millisecond', attempts = attempts + 1
  where id in (
    select id from outbox_messages
    where channel = $1 and state = 'pending' and due_at <= now() and (claimed_until is null or claimed_until < now())
      and recipient <> all ($4::text[])
    order by due_at, id limit $2
    for update skip locked
  )
  returning id, recipient, attempts, created_at as "createdAt", claimed_until::text as "claimedUntil"`,
);

const noticesOf = statement<Notice, [message: string]>(
  'intake.notify.noticesOf',
  'select title, text, url from outbox_recipients join outbox using (event_id, rule, replay) where message_id = $1 order by id',
);

/** An event as webhooks send it; `payload` is JSON text. */
export type StoredEvent = Event & { readonly payload: string | undefined };

const eventOf = statement<Event, [message: string]>(
  'intake.notify.eventOf',
  `select ${eventColumns} from events where id = (select event_id from outbox_recipients where message_id = $1 order by id limit 1)`,
);

// Only while the claim is still held: a process that took the message over records its own outcome. `attempts` was counted by the claim.
const recorded = (outcome: string) => `recorded as (
    insert into outbox_attempts (message_id, attempt, attempted_at, outcome, reason)
    select id, attempts, clock_timestamp(), ${outcome}, last_error from ended on conflict do nothing)`;

const end = statement<unknown, [id: string, claimedUntil: string, state: 'sent' | 'failed', reason: string | null]>(
  'intake.notify.end',
  `
  with ended as (
    update outbox_messages set state = $3, last_error = $4, ended_at = clock_timestamp(), claimed_until = null
    where id = $1 and claimed_until = $2::timestamptz and state = 'pending'
    returning id, attempts, state, last_error
  ), ${recorded('state')}
  select from ended`,
);

const postpone = statement<unknown, [id: string, claimedUntil: string, reason: string, afterMs: number]>(
  'intake.notify.postpone',
  `
  with ended as (
    update outbox_messages set last_error = $3, due_at = clock_timestamp() + $4 * interval '1 millisecond', claimed_until = null
    where id = $1 and claimed_until = $2::timestamptz and state = 'pending'
    returning id, attempts, last_error
  ), ${recorded(`'retried'`)}
  select from ended`,
);

export type OutboxState = { channel: string; waiting: number; failed: number; oldestSeconds: number };
const states = statement<OutboxState>(
  'intake.notify.states',
  `
  select channel, sum(waiting) as waiting, sum(failed) as failed, greatest(0, max(age))::float8 as "oldestSeconds" from (
    select channel, count(*) as waiting, 0 as failed, extract(epoch from now() - min(created_at)) as age
    from outbox_recipients where message_id is null group by channel
    union all
    select m.channel, count(*), 0, extract(epoch from now() - min(r.created_at))
    from outbox_messages m join outbox_recipients r on r.message_id = m.id where m.state = 'pending' group by m.channel
    union all
    select channel, 0, count(*), null from outbox_messages where state = 'failed' group by channel
  ) as parts group by channel`,
);

export type NotificationStore = ReturnType<typeof createNotificationStore>;

export const createNotificationStore = (database: Database) => ({
  /** One process at a time, so that the cap holds over all; another one's turn is as good. */
  makeMessages: (channel: string, maxPerHour: number) =>
    database.transaction(async (inTransaction) => {
      if ((await inTransaction.first(lock, `signalbox.intake.notify.${channel}`))?.locked !== true) return;
      for (const { recipient, ...load } of await inTransaction.all(waitingRecipients, channel)) {
        if (load.pending + load.sent >= maxPerHour) continue;
        const ids = (await inTransaction.all(waiting, channel, recipient, longestDigest)).map(({ id }) => id);
        for (const ofMessage of compose(ids, maxPerHour, load)) await inTransaction.run(makeMessage, uuidv7(), channel, recipient, ofMessage);
      }
    }),
  /** @param except recipients whose messages are left */
  claim: (channel: string, limit: number, leaseMs: number, except: readonly string[] = []) => database.all(claim, channel, limit, leaseMs, except),
  noticesOf: (message: string) => database.all(noticesOf, message),
  /** The event of a message with one notice, whole; undefined once its retention is over. */
  async eventOf(message: string): Promise<StoredEvent | undefined> {
    const event = await database.first(eventOf, message);
    return event && { ...event, payload: await payloadTextOf(database, event) };
  },
  end: ({ id, claimedUntil }: ClaimedMessage, state: 'sent' | 'failed', reason: string | null = null) => database.run(end, id, claimedUntil, state, reason),
  postpone: ({ id, claimedUntil }: ClaimedMessage, reason: string, afterMs: number) => database.run(postpone, id, claimedUntil, reason, afterMs),
  states: () => database.all(states),
});
