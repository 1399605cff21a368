// The forge queue's worker: deliveries become events in the log. One statement takes a whole batch.
import { v7 as uuidv7 } from 'uuid';
import type { BatchHandler, Delivery } from '../platform/broker/broker.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { storable } from '../platform/json.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { integerAt, readEnvelope, readPayload, repositoryOf } from './delivery.ts';

export function createServiceWorker({ database, ...parts }: BatchWorkerParts & { readonly database: Database }): BatchHandler {
  async function store(events: readonly LoggedEvent[]): Promise<boolean[]> {
    const bodies = Buffer.concat(events.map(({ body }) => body));
    const stored = await database.all(storeBatch, eventRows(events), bodies);
    const ids = new Set(stored.map(({ id }) => id));
    return events.map(({ id }) => ids.has(id));
  }
  return createBatchWorker({ worker: 'service', queue: 'forge', read: readEvent, store }, parts);
}

/** A delivery as the event log keeps it. */
type LoggedEvent = Awaited<ReturnType<typeof readEvent>>;

async function readEvent(delivery: Delivery, maxValues: number) {
  const { value, bytes } = await readPayload(delivery, maxValues);
  const envelope = readEnvelope(delivery);
  return {
    ...envelope,
    /** Holds the time of reception, as the log is ordered by it. */
    id: uuidv7({ msecs: envelope.receivedAt.getTime() }),
    source: 'forge',
    bucketStart: new Date(Math.floor(envelope.receivedAt.getTime() / bucketMs) * bucketMs),
    repository: repositoryOf(value),
    number: subjectNumber(value),
    /** Of the payload, unpacked. */
    bytes,
    headers: Object.fromEntries(Object.entries(delivery.headers).map(([name, value]) => [name, storable(value)])),
    /** As it came: the raw bytes, or their gzip. */
    body: delivery.body,
    isGzip: delivery.contentEncoding === 'gzip',
  };
}

const bucketMs = 6 * 60 * 60 * 1000;
const maxInt = 2 ** 31 - 1;

/** Of the issue or pull request it is about. */
function subjectNumber(payload: unknown): number | null {
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  return number !== undefined && number > 0 && number <= maxInt ? number : null;
}

// Keys first, in their order, then buckets, in theirs: two workers with the same rows at hand wait for each other
// instead of deadlocking. `counted` groups over all of `fresh`, so no bucket is locked before the last key is in.
// All payloads come as one binary parameter and are cut apart by the server: as an array they would travel, and be
// parsed, as hexadecimal text of twice the size.
const storeBatch = statement<{ id: string }, [events: string, bodies: Buffer]>(
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
  )
  select event_id as id from fresh`,
);

function eventRows(events: readonly LoggedEvent[]): string {
  let bodyFrom = 1;
  const rows = events.map(({ body, ...event }, position) => {
    const row = { position, bodyFrom, bodyBytes: body.length, ...event };
    bodyFrom += body.length;
    return row;
  });
  return JSON.stringify(rows);
}
