// All SQL of replays: the events that wait for one, what was stored of them, and the notifications that are sent again.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';
import type { Event } from '../contract.ts';
import type { EventKey } from '../dashboard/store.ts';
import { noticeColumns, type NoticeRow, recipientColumns, type RecipientRow } from '../outbox-rows.ts';
import { eventColumns } from '../stored-events.ts';

export type WaitingEvent = { readonly eventId: string; readonly receivedAt: Date; readonly isNotified: boolean; readonly bytes: number };

type ReplayRow = { readonly runId: string; readonly receivedAt: Date; readonly eventId: string; readonly isNotified: boolean };
const add = insertRows<ReplayRow>('replay.add', {
  into: 'replay_events',
  columns: { runId: 'uuid', receivedAt: 'timestamptz', eventId: 'uuid', isNotified: 'boolean' },
});

const takeOver = statement<unknown, [run: string, from: string]>('replay.takeOver', 'update replay_events set run_id = $1 where run_id = $2');

const left = statement<{ count: number }, [run: string]>('replay.left', 'select count(*) as count from replay_events where run_id = $1');

const next = statement<WaitingEvent, [run: string, rows: number]>(
  'replay.next',
  `
  select replayed.event_id as "eventId", replayed.received_at as "receivedAt", replayed.is_notified as "isNotified", coalesce(event.bytes, 0) as bytes
  from replay_events replayed left join events event on event.received_at = replayed.received_at and event.id = replayed.event_id
  where run_id = $1 order by replayed.received_at, replayed.event_id limit $2`,
);

const remove = statement<unknown, [run: string, ids: readonly string[]]>(
  'replay.remove',
  'delete from replay_events where run_id = $1 and event_id = any ($2::uuid[])',
);

export type ReplayedEvent = Event & {
  readonly headers: Readonly<Record<string, string>>;
  readonly isGzip: boolean;
  readonly body: Buffer;
  readonly isKnown: boolean;
};

// A row of a typed table becomes PROCESSED by the key of its delivery; keys are deleted sooner than events.
const read = statement<ReplayedEvent, [ids: readonly string[], from: Date, to: Date]>(
  'replay.read',
  `
  select ${eventColumns.replaceAll(/\b(id|received_at)\b/g, 'events.$1')}, headers, is_gzip as "isGzip", body,
    exists (select from delivery_keys key where key.event_id = events.id and key.delivery_id = events.delivery_id) as "isKnown"
  from events join event_payloads payload on payload.received_at = events.received_at and payload.event_id = events.id
  where events.id = any ($1::uuid[]) and events.received_at >= $2 and events.received_at <= $3
  order by events.received_at, events.id`,
);

type Replayed<Row> = Row & { readonly replay: string };
const addNotices = insertRows<Replayed<NoticeRow>>('replay.notices', {
  into: 'outbox',
  columns: { ...noticeColumns, replay: 'uuid' },
  expressions: { created_at: 'now()' },
  onConflict: 'do nothing',
});
const addRecipients = insertRows<Replayed<RecipientRow>>('replay.recipients', {
  into: 'outbox_recipients',
  columns: { ...recipientColumns, replay: 'uuid' },
  expressions: { created_at: 'now()' },
  onConflict: 'do nothing',
});

export const createReplayStore = (database: Database) => ({
  add: (runId: string, events: readonly EventKey[], isNotified: boolean) =>
    database.run(
      add,
      events.map(({ id, receivedAt }) => ({ runId, receivedAt, eventId: id, isNotified })),
    ),
  /** Gives the events that are left of another run to this one. @returns how many */
  takeOver: (runId: string, from: string) => database.run(takeOver, runId, from),
  left: async (runId: string) => (await database.first(left, runId))?.count ?? 0,
  next: (runId: string, rows: number) => database.all(next, runId, rows),
  remove: (runId: string, ids: readonly string[]) => database.run(remove, runId, ids),
  /** The events whose payloads are kept, in the order of reception. */
  read: (events: readonly Pick<WaitingEvent, 'eventId' | 'receivedAt'>[]) => {
    const times = events.map(({ receivedAt }) => receivedAt.getTime());
    return database.all(
      read,
      events.map(({ eventId }) => eventId),
      new Date(Math.min(...times)),
      new Date(Math.max(...times)),
    );
  },
  async notify(
    replay: string,
    { notices, recipients }: { readonly notices: readonly NoticeRow[]; readonly recipients: readonly RecipientRow[] },
  ): Promise<void> {
    if (notices.length === 0) return;
    await database.run(
      addNotices,
      notices.map((row) => ({ ...row, replay })),
    );
    await database.run(
      addRecipients,
      recipients.map((row) => ({ ...row, replay })),
    );
  },
});
