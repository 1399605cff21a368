// The event log: every event once, with its payload, counted in its six-hour bucket. One statement takes a whole batch.
import type { Metrics } from '../platform/metrics.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { bucketHours } from './contract.ts';
import { cleanNotice, type Notice } from './notifications/notice.ts';
import type { Match, Rules } from './notifications/rules.ts';

/** What the log keeps of an event, whichever source it came from. */
export type LoggedEvent = {
  /** UUID v7 of `receivedAt`, as the log is ordered by it. */
  readonly id: string;
  /** `forge`, or the name of a direct source. */
  readonly source: string;
  readonly event: string;
  readonly action: string | null;
  /** owner/name */
  readonly repository: string | null;
  /** Of the issue or pull request it is about. */
  readonly number: number | null;
  /** A login. */
  readonly sender: string | null;
  readonly senderClass: string | null;
  /** With the two below, unique within the source: what comes again is a duplicate. */
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  readonly score: number;
  readonly isCoreFunction: boolean;
  /** Of the payload, unpacked. */
  readonly bytes: number;
  /** By the relay; of a direct source by the intake. */
  readonly receivedAt: Date;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came: the raw bytes, or their gzip. */
  readonly body: Buffer;
  readonly isGzip: boolean;
  /** As the payload has it: neither cut nor escaped. */
  readonly notice: Notice;
};

/** All or none, with what the rules have people told of those that are new. @returns for each event whether it was new: false is a duplicate */
export async function storeEvents(database: Database, events: readonly LoggedEvent[], rules: Pick<Rules, 'match'>): Promise<boolean[]> {
  const bodies = Buffer.concat(events.map(({ body }) => body));
  const { notices, recipients } = outboxRows(events, rules);
  const stored = await database.all(storeBatch, eventRows(events), bodies, notices, recipients);
  const ids = new Set(stored.map(({ id }) => id));
  return events.map(({ id }) => ids.has(id));
}

/** The event that was stored under this key of a source; a duplicate's first. */
export const eventIdOf = async (database: Database, source: string, deliveryId: string): Promise<string | undefined> =>
  (await database.first(byDeliveryKey, source, deliveryId))?.id;

/** @param sources stand at 0 from the start. @returns what counts for each event whether it was new to the log */
export function measureEvents(metrics: Metrics, sources: readonly string[]): (source: string, areNew: readonly boolean[]) => void {
  const events = metrics.counter({
    name: 'signalbox_intake_events_total',
    help: 'Events by source and by what became of them in the event log: stored, or duplicate.',
    labels: ['source', 'outcome'],
    series: sources.flatMap((source) => [
      { source, outcome: 'stored' },
      { source, outcome: 'duplicate' },
    ]),
  });
  return (source, areNew) => areNew.forEach((isNew) => events.inc({ source, outcome: isNew ? 'stored' : 'duplicate' }));
}

const bucketMs = bucketHours * 60 * 60 * 1000;

// Keys first, in their order, then buckets, in theirs: two workers with the same rows at hand wait for each other
// instead of deadlocking. `counted` groups over all of `fresh`, so no bucket is locked before the last key is in.
// All payloads come as one binary parameter and are cut apart by the server: as an array they would travel, and be
// parsed, as hexadecimal text of twice the size.
const storeBatch = statement<{ id: string }, [events: string, bodies: Buffer, notices: string, recipients: string]>(
  'intake.storeBatch',
  `
  with incoming (position, id, source, event, action, repository, number, sender, sender_class, delivery_id, hook_id, target_id,
    score, is_core_function, bytes, received_at, bucket_start, headers, is_gzip, body_from, body_bytes) as materialized (
    select * from json_to_recordset($1::json) as e(
      position int, id uuid, source text, event text, action text, repository text, number int, sender text, "senderClass" text,
      "deliveryId" text, "hookId" text, "targetId" text, score int, "isCoreFunction" boolean, bytes int,
      "receivedAt" timestamptz, "bucketStart" timestamptz, headers jsonb, "isGzip" boolean, "bodyFrom" int, "bodyBytes" int)
  ), fresh as (
    insert into delivery_keys (source, delivery_id, hook_id, target_id, event_id, stored_at)
    select source, delivery_id, hook_id, target_id, id, now() from incoming
    order by delivery_id, hook_id, target_id, source, position
    on conflict do nothing
    returning event_id
  ), logged as (
    insert into events (id, source, event, action, repository, number, sender, sender_class, delivery_id, hook_id, target_id,
      score, is_core_function, bytes, received_at, stored_at, headers)
    select id, source, event, action, repository, number, sender, sender_class, delivery_id, hook_id, target_id,
      score, is_core_function, bytes, received_at, now(), headers
    from incoming join fresh on fresh.event_id = incoming.id
  ), kept as (
    insert into event_payloads (event_id, received_at, is_gzip, body)
    select id, received_at, is_gzip, substr($2::bytea, body_from, body_bytes)
    from incoming join fresh on fresh.event_id = incoming.id
  ), counted as (
    insert into statistics_buckets as bucket (bucket_start, source, event, received, duplicates, bytes)
    select bucket_start, source, event, count(event_id), count(*) - count(event_id), coalesce(sum(bytes) filter (where event_id is not null), 0)
    from incoming left join fresh on fresh.event_id = incoming.id
    group by bucket_start, source, event
    order by bucket_start, source, event
    on conflict (bucket_start, source, event) do update set received = bucket.received + excluded.received,
      duplicates = bucket.duplicates + excluded.duplicates, bytes = bucket.bytes + excluded.bytes
  ), noted as (
    insert into outbox (event_id, rule, title, text, url, created_at)
    select event_id, rule, title, text, url, now()
    from json_to_recordset($3::json) as n("eventId" uuid, rule text, title text, text text, url text) join fresh on fresh.event_id = n."eventId"
  ), addressed as (
    insert into outbox_recipients (event_id, rule, channel, recipient, created_at)
    select event_id, rule, channel, recipient, now()
    from json_to_recordset($4::json) as r("eventId" uuid, rule text, channel text, recipient text) join fresh on fresh.event_id = r."eventId"
  )
  select event_id as id from fresh`,
);

const byDeliveryKey = statement<{ id: string }, [source: string, deliveryId: string]>(
  'intake.byDeliveryKey',
  `select event_id as id from delivery_keys where source = $1 and delivery_id = $2 and hook_id = '0' and target_id = '0'`,
);

function eventRows(events: readonly LoggedEvent[]): string {
  let bodyFrom = 1;
  const rows = events.map(({ body, notice: _, ...event }, position) => {
    const bucketStart = new Date(Math.floor(event.receivedAt.getTime() / bucketMs) * bucketMs);
    const row = { position, bodyFrom, bodyBytes: body.length, bucketStart, ...event };
    bodyFrom += body.length;
    return row;
  });
  return JSON.stringify(rows);
}

/** What people are to be told of events: a row for each rule that an event matches, and one for each recipient of the event. */
function outboxRows(events: readonly LoggedEvent[], rules: Pick<Rules, 'match'>): { readonly notices: string; readonly recipients: string } {
  const matched = events.flatMap((event) => {
    const matches = rules.match(event);
    return matches.length === 0 ? [] : [{ eventId: event.id, matches, notice: cleanNotice(event.notice) }];
  });
  const notices = matched.flatMap(({ eventId, matches, notice }) => matches.map(({ rule }) => ({ eventId, rule, ...notice })));
  return { notices: JSON.stringify(notices), recipients: JSON.stringify(matched.flatMap(({ eventId, matches }) => recipientsOf(eventId, matches))) };
}

/** Each once, under the first rule that names it. */
function recipientsOf(eventId: string, matches: readonly Match[]) {
  const rows = matches.flatMap(({ rule, recipients }) => recipients.map((one) => ({ eventId, rule, ...one })));
  return [...new Map(rows.toReversed().map((row) => [`${row.channel} ${row.recipient}`, row])).values()];
}
