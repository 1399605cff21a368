// The bound of the intake benchmark: rows that are ready in memory, inserted a hundred at a time, and nothing else.
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { Message } from '../../../services/platform/broker/broker.ts';
import { readEnvelope } from '../../../services/webhook-intake/delivery.ts';

type Cells = readonly unknown[];
export type Rows = { readonly key: Cells; readonly event: Cells; readonly payload: Cells; readonly bucket: Cells };

/** The same rows that the worker would make of these messages. */
export function rowsOf(messages: readonly Message[]): Rows[] {
  const now = new Date();
  return messages.map((message) => {
    const envelope = readEnvelope({ ...message, attempt: 1, redelivered: false });
    const { deliveryId, hookId, targetId, event, receivedAt } = envelope;
    const id = uuidv7();
    const bytes = message.body.length;
    const bucketStart = new Date(Math.floor(receivedAt.getTime() / 21_600_000) * 21_600_000);
    const payload: unknown = JSON.parse(message.body.toString());
    const fullName =
      payload &&
      typeof payload === 'object' &&
      'repository' in payload &&
      payload.repository &&
      typeof payload.repository === 'object' &&
      'full_name' in payload.repository
        ? payload.repository.full_name
        : null;
    return {
      key: ['forge', deliveryId, hookId, targetId, id, now],
      event: [
        id,
        'forge',
        'github.com',
        event,
        envelope.originalEvent,
        envelope.action,
        envelope.originalAction,
        fullName,
        null,
        envelope.sender,
        envelope.senderClass,
        envelope.relayId,
        deliveryId,
        hookId,
        targetId,
        envelope.score,
        envelope.isCoreFunction,
        bytes,
        receivedAt,
        now,
        JSON.stringify(message.headers),
      ],
      payload: [id, receivedAt, false, message.body],
      bucket: [bucketStart, 'forge', event, 1, bytes],
    };
  });
}

const columns = {
  delivery_keys: 'source, delivery_id, hook_id, target_id, event_id, stored_at',
  events:
    'id, source, forge, event, original_event, action, original_action, repository, number, sender, sender_class, relay_id, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers',
  event_payloads: 'event_id, received_at, is_gzip, body',
};

export async function insertRows(client: pg.Client, rows: readonly Rows[]): Promise<void> {
  await client.query('begin');
  await insert(
    client,
    'delivery_keys',
    rows.map(({ key }) => key),
  );
  await insert(
    client,
    'events',
    rows.map(({ event }) => event),
  );
  await insert(
    client,
    'event_payloads',
    rows.map(({ payload }) => payload),
  );
  await count(client, rows);
  await client.query('commit');
}

async function insert(client: pg.Client, table: keyof typeof columns, rows: readonly Cells[]): Promise<void> {
  if (rows.length === 0) return;
  let place = 0;
  const values = rows.map((cells) => `(${cells.map(() => `$${++place}`).join(', ')})`).join(', ');
  await client.query({ name: `${table} ${rows.length}`, text: `insert into ${table} (${columns[table]}) values ${values}`, values: rows.flat() });
}

async function count(client: pg.Client, rows: readonly Rows[]): Promise<void> {
  const sums = new Map<string, [start: unknown, source: unknown, event: unknown, received: number, bytes: number]>();
  for (const { bucket } of rows) {
    const [start, source, event, , bytes] = bucket;
    const sum = sums.get(String(event)) ?? [start, source, event, 0, 0];
    sum[3] += 1;
    sum[4] += Number(bytes);
    sums.set(String(event), sum);
  }
  let place = 0;
  const values = [...sums.values()].map((cells) => `(${cells.map(() => `$${++place}`).join(', ')})`).join(', ');
  await client.query(
    `insert into statistics_buckets as bucket (bucket_start, source, event, received, bytes) values ${values}
     on conflict (bucket_start, source, forge, event) do update set received = bucket.received + excluded.received, bytes = bucket.bytes + excluded.bytes`,
    [...sums.values()].flat(),
  );
}
