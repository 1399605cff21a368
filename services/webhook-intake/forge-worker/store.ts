// All SQL of the forge worker: one statement takes a whole batch.
import { v7 as uuidv7 } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { storable } from '../../platform/text.ts';
import type { MatchedRule } from '../rules/rules.ts';
import type { LoggedEvent } from './event.ts';

export type EventToStore = { readonly event: LoggedEvent; readonly rules: readonly MatchedRule[] };

const bucketMs = 6 * 60 * 60 * 1000;

// Keys first, in their order, then buckets, in theirs: two workers with the same rows at hand wait for each other
// instead of deadlocking. `counted` groups over all of `fresh`, so no bucket is locked before the last key is in.
// All payloads come as one binary parameter and are cut apart by the server: as an array they would travel, and be
// parsed, as hexadecimal text of twice the size.
const storeBatch = statement<{ id: string }, [events: string, bodies: Buffer, notices: string]>(
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
  ), announced as (
    insert into outbox (id, event_id, event_received_at, rule, channels, due_at, created_at)
    select n.id, n.event_id, n.event_received_at, n.rule, n.channels, now(), now()
    from json_to_recordset($3::json) as n(id uuid, event_id uuid, event_received_at timestamptz, rule text, channels text[])
    join fresh on fresh.event_id = n.event_id
  )
  select event_id as id from fresh`,
);

export type EventStore = ReturnType<typeof createEventStore>;

export const createEventStore = (database: Database) => ({
  /** All or none, exactly once for each delivery key. @returns the ids of those that were not known yet */
  async storeBatch(batch: readonly EventToStore[]): Promise<ReadonlySet<string>> {
    const bodies = Buffer.concat(batch.map(({ event }) => event.body));
    const rows = await database.all(storeBatch, eventRows(batch), bodies, noticeRows(batch));
    return new Set(rows.map(({ id }) => id));
  },
});

function eventRows(batch: readonly EventToStore[]): string {
  let bodyFrom = 1;
  const rows = batch.map(({ event }, position) => {
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

const noticeRows = (batch: readonly EventToStore[]): string =>
  JSON.stringify(
    batch.flatMap(({ event, rules }) =>
      rules.map(({ rule, channels }) => ({ id: uuidv7(), event_id: event.id, event_received_at: event.receivedAt, rule, channels })),
    ),
  );
