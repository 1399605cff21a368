// The event log: every event once, with its payload, counted in its six-hour bucket. One statement takes a whole batch.
import type { Metrics } from '../platform/metrics.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { namesOf, type RowColumns, rowsStatement } from '../platform/postgres/rows.ts';
import { hourMs } from '../platform/time.ts';
import { bucketHours } from './contract.ts';
import { cleanNotice, type Notice } from './notifications/notice.ts';
import type { Rules } from './notifications/rules.ts';
import { noticeColumns, type NoticeRow, outboxRows, recipientColumns, type RecipientRow } from './outbox-rows.ts';

/** An event as it is stored, whatever its source. */
export type LoggedEvent = {
  /** UUID v7 of `receivedAt`, as the log is ordered by it. */
  readonly id: string;
  /** `forge`, or the name of a direct source. */
  readonly source: string;
  /** Host of the forge; null for a direct source. */
  readonly forge: string | null;
  /** `github`, `gitea` or `forgejo`. */
  readonly forgeKind: string | null;
  /** In GitHub's word, where a forge sent it. */
  readonly event: string;
  /** In the forge's own word. */
  readonly originalEvent: string | null;
  readonly action: string | null;
  readonly originalAction: string | null;
  /** owner/name */
  readonly repository: string | null;
  /** The number of its issue or pull request. */
  readonly number: number | null;
  /** A login. */
  readonly sender: string | null;
  readonly senderClass: string | null;
  /** Id of the relay's answer. */
  readonly relayId: string | null;
  /** Unique within the source together with the next two; a second delivery with the same three is a duplicate. */
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  /** A second delivery with the same digest is a duplicate, whatever its ids. */
  readonly digest: string | null;
  readonly score: number;
  readonly isCoreFunction: boolean;
  /** Size of the payload, unpacked. */
  readonly bytes: number;
  /** By the relay; of a direct source by the intake. */
  readonly receivedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** The raw bytes, or their gzip. */
  readonly body: Buffer;
  readonly isGzip: boolean;
  /** Texts of the payload, neither cut nor escaped. */
  readonly notice: Notice;
  /** For conditions of rules. */
  readonly payload: unknown;
};

/** All or none, with the notices that the rules ask for. @returns for each event whether it was new: false is a duplicate */
export async function storeEvents(database: Database, events: readonly LoggedEvent[], rules: Pick<Rules, 'match'>): Promise<boolean[]> {
  const bodies = Buffer.concat(events.map(({ body }) => body));
  const { notices, recipients } = outboxRows(events, rules);
  const stored = await database.all(storeBatch, eventRows(events), bodies, notices, recipients);
  const ids = new Set(stored.map(({ id }) => id));
  return events.map(({ id }) => ids.has(id));
}

type Key = Pick<LoggedEvent, 'source' | 'deliveryId' | 'digest'>;

/** The event that was stored under this key of a direct source; of a duplicate the first. */
export const eventIdOf = async (database: Database, { source, deliveryId, digest }: Key): Promise<string | undefined> =>
  (await database.first(byDeliveryKey, source, deliveryId, digest))?.id;

/** @param sources have series at 0 from the start. @returns counts for each event whether it was new to the log */
export function measureEvents(metrics: Metrics, sources: readonly { readonly source: string; readonly forge: string }[]) {
  const counter = metrics.counter({
    name: 'signalbox_intake_events_total',
    help: 'Events by source, by kind of forge, and by what became of them in the event log: stored, or duplicate.',
    labels: ['source', 'forge', 'outcome'],
    series: sources.flatMap((one) => ['stored', 'duplicate'].map((outcome) => ({ ...one, outcome }))),
  });
  return (events: readonly Pick<LoggedEvent, 'source' | 'forgeKind'>[], areNew: readonly boolean[]) =>
    events.forEach(({ source, forgeKind }, index) => counter.inc({ source, forge: forgeKind ?? '', outcome: areNew[index] === true ? 'stored' : 'duplicate' }));
}

type EventRow = LoggedEvent & {
  readonly bucketStart: Date;
  readonly hourStart: Date;
  readonly title: string;
  /** Where its body begins among all bodies, from 1. */
  readonly bodyFrom: number;
  readonly bodyBytes: number;
};

const eventColumns: RowColumns<EventRow> = {
  id: 'uuid',
  source: 'text',
  forge: 'text',
  forgeKind: 'omitted',
  event: 'text',
  originalEvent: 'text',
  action: 'text',
  originalAction: 'text',
  repository: 'text',
  number: 'int',
  sender: 'text',
  senderClass: 'text',
  relayId: 'text',
  deliveryId: 'text',
  hookId: 'text',
  targetId: 'text',
  digest: 'text',
  score: 'int',
  isCoreFunction: 'boolean',
  bytes: 'int',
  receivedAt: 'timestamptz',
  headers: 'jsonb',
  body: 'omitted',
  isGzip: 'boolean',
  notice: 'omitted',
  payload: 'omitted',
  bucketStart: 'timestamptz',
  hourStart: 'timestamptz',
  title: 'text',
  bodyFrom: 'int',
  bodyBytes: 'int',
};

type Batch = [events: readonly EventRow[], bodies: Buffer, notices: readonly NoticeRow[], recipients: readonly RecipientRow[]];

const logged = `id, source, forge, event, original_event, action, original_action, title, repository, number, sender, sender_class,
      relay_id, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, headers`;

/** Adds to the buckets of one table, in the order of their keys. @param start the column of their begin */
const countIn = (table: string, start: string) => `
    insert into ${table} as bucket (${start}, source, forge, event, received, duplicates, bytes)
    select ${start}, source, coalesce(forge, ''), event, count(event_id), count(*) - count(event_id),
      coalesce(sum(bytes) filter (where event_id is not null), 0)
    from incoming left join fresh on fresh.event_id = incoming.id
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (${start}, source, forge, event) do update set received = bucket.received + excluded.received,
      duplicates = bucket.duplicates + excluded.duplicates, bytes = bucket.bytes + excluded.bytes
    returning 1`;

// Keys first, in their order, then buckets, in theirs, then the feed: two workers with the same rows wait for each other instead of deadlocking.
// The buckets are grouped over all of `fresh`, so no bucket is locked before the last key is in; `numbered` counts both tables of buckets for the
// same reason.
// All payloads are one binary parameter that the server cuts apart: an array of them would be hexadecimal text of twice the size.
const storeBatch = rowsStatement<{ id: string }, Batch>(
  'intake.storeBatch',
  [eventColumns, 'bytea', noticeColumns, recipientColumns],
  (...[events, bodies, notices, recipients]) => `
  with incoming as materialized (
    select ${namesOf(eventColumns)}, ordinal from ${events} as given
  ), fresh as (
    insert into delivery_keys (source, delivery_id, hook_id, target_id, digest, event_id, stored_at)
    select source, delivery_id, hook_id, target_id, digest, id, now() from incoming
    order by digest, delivery_id, hook_id, target_id, source, ordinal
    on conflict do nothing
    returning event_id
  ), counted as (${countIn('statistics_buckets', 'bucket_start')}
  ), counted_by_hour as (${countIn('statistics_hours', 'hour_start')}
  ), numbered as (
    insert into event_feed as feed (last_position)
    select count(*) from fresh where (select count(*) from counted) + (select count(*) from counted_by_hour) > 0 having count(*) > 0
    on conflict (is_only) do update set last_position = feed.last_position + excluded.last_position
    returning last_position
  ), logged as (
    insert into events (${logged}, stored_at, position)
    select ${logged}, now(), last_position - row_number() over (order by ordinal desc) + 1
    from incoming join fresh on fresh.event_id = incoming.id cross join numbered
  ), repeated as (
    insert into duplicate_deliveries (source, delivery_id, hook_id, target_id, digest, relay_id, received_at)
    select source, delivery_id, hook_id, target_id, digest, relay_id, received_at
    from incoming left join fresh on fresh.event_id = incoming.id where event_id is null
  ), kept as (
    insert into event_payloads (event_id, received_at, is_gzip, body)
    select id, received_at, is_gzip, substr(${bodies}, body_from, body_bytes)
    from incoming join fresh on fresh.event_id = incoming.id
  ), noted as (
    insert into outbox (${namesOf(noticeColumns)}, created_at)
    select ${namesOf(noticeColumns)}, now() from ${notices} as given join fresh using (event_id)
  ), addressed as (
    insert into outbox_recipients (${namesOf(recipientColumns)}, created_at)
    select ${namesOf(recipientColumns)}, now() from ${recipients} as given join fresh using (event_id)
  )
  select event_id as id from fresh`,
);

const byDeliveryKey = statement<{ id: string }, [source: string, deliveryId: string, digest: string | null]>(
  'intake.byDeliveryKey',
  `select event_id as id from delivery_keys
  where source = $1 and ((delivery_id = $2 and hook_id = '0' and target_id = '0') or digest = $3) order by stored_at, event_id limit 1`,
);

function eventRows(events: readonly LoggedEvent[]): EventRow[] {
  let bodyFrom = 1;
  return events.map((event) => {
    const startOf = (ms: number) => new Date(Math.floor(event.receivedAt.getTime() / ms) * ms);
    const title = cleanNotice(event.notice).title;
    const row = { ...event, title, bodyFrom, bodyBytes: event.body.length, bucketStart: startOf(bucketHours * hourMs), hourStart: startOf(hourMs) };
    bodyFrom += event.body.length;
    return row;
  });
}
