// The forge queue's worker: deliveries become events in the log. One statement takes a whole batch.
import { v7 as uuidv7 } from 'uuid';
import type { BatchHandler, Delivery } from '../platform/broker/broker.ts';
import { type Database, statement } from '../platform/postgres/pool.ts';
import { storable } from '../platform/text.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { type Envelope, integerAt, readEnvelope, readPayload, repositoryOf, type Unreadable } from './delivery.ts';

export type ForgeWorkerParts = BatchWorkerParts & { readonly database: Database };

export function createForgeWorker({ database, ...parts }: ForgeWorkerParts): BatchHandler {
  async function store(events: readonly LoggedEvent[]): Promise<boolean[]> {
    const bodies = Buffer.concat(events.map(({ body }) => body));
    const stored = await database.all(storeBatch, eventRows(events), bodies);
    const ids = new Set(stored.map(({ id }) => id));
    return events.map(({ id }) => ids.has(id));
  }
  return createBatchWorker({ worker: 'service', queue: 'forge', read: readEvent, store }, parts);
}

/** A delivery as the event log keeps it. */
type LoggedEvent = Envelope & {
  /** Holds the time of reception, as the log is ordered by it. */
  readonly id: string;
  readonly source: string;
  readonly repository: string | null;
  /** Of the issue or pull request it is about. */
  readonly number: number | null;
  /** Of the payload, unpacked. */
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came: the raw bytes, or their gzip. */
  readonly body: Buffer;
  readonly isGzip: boolean;
};

async function readEvent(delivery: Delivery): Promise<LoggedEvent | Unreadable> {
  const payload = await readPayload(delivery);
  if ('unreadable' in payload) return payload;
  const { value, bytes } = payload;
  const envelope = readEnvelope(delivery);
  return {
    ...envelope,
    id: uuidv7({ msecs: envelope.receivedAt.getTime() }),
    source: 'forge',
    repository: repositoryOf(value),
    number: subjectNumber(value),
    bytes,
    headers: delivery.headers,
    body: delivery.body,
    isGzip: delivery.contentEncoding === 'gzip',
  };
}

const maxInt = 2 ** 31 - 1;

function subjectNumber(payload: unknown): number | null {
  const number = integerAt(payload, 'pull_request', 'number') ?? integerAt(payload, 'issue', 'number');
  return number !== undefined && number > 0 && number <= maxInt ? number : null;
}

const bucketMs = 6 * 60 * 60 * 1000;

// Keys first, in their order, then buckets, in theirs: two workers with the same rows at hand wait for each other
// instead of deadlocking. `counted` groups over all of `fresh`, so no bucket is locked before the last key is in.
// All payloads come as one binary parameter and are cut apart by the server: as an array they would travel, and be
// parsed, as hexadecimal text of twice the size.
const storeBatch = statement<{ id: string }, [events: string, bodies: Buffer]>(
  'intake.storeBatch',
  `
  with incoming as materialized (
    select * from json_to_recordset($1::json) as e(
      position int, id uuid, source text, event text, action text, repository text, number int, sender text, sender_class text,
      delivery_id text, hook_id text, target_id text, score int, is_core_function boolean, bytes int,
      received_at timestamptz, bucket_start timestamptz, headers jsonb, is_gzip boolean, body_from int, body_bytes int)
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
  const rows = events.map((event, position) => {
    const body = { body_from: bodyFrom, body_bytes: event.body.length };
    bodyFrom += event.body.length;
    return { position, ...body, ...eventRow(event) };
  });
  return JSON.stringify(rows);
}

const eventRow = (event: LoggedEvent) => ({
  id: event.id,
  source: event.source,
  event: event.event,
  action: event.action,
  repository: event.repository,
  number: event.number,
  sender: event.sender,
  sender_class: event.senderClass,
  delivery_id: event.deliveryId,
  hook_id: event.hookId,
  target_id: event.targetId,
  score: event.score,
  is_core_function: event.isCoreFunction,
  bytes: event.bytes,
  received_at: event.receivedAt,
  bucket_start: new Date(Math.floor(event.receivedAt.getTime() / bucketMs) * bucketMs),
  headers: Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, storable(value)])),
  is_gzip: event.isGzip,
});
