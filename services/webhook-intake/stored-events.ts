// Reading single events of the log: their columns under the names of the wire, and their payloads.
import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Database, statement } from '../platform/postgres/pool.ts';
import type { Event } from './contract.ts';

/** For a select list. */
export const eventColumns = `id, source, forge, event, original_event as "originalEvent", action, original_action as "originalAction", title, repository,
  sender, sender_class as "senderClass", relay_id as "relayId", delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId", score,
  is_core_function as "isCoreFunction", bytes, received_at as "receivedAt", stored_at as "storedAt"`;

const payloadOf = statement<{ readonly isGzip: boolean; readonly body: Buffer }, [id: string, receivedAt: Date]>(
  'intake.payload',
  `
  select is_gzip as "isGzip", body from event_payloads where event_id = $1 and received_at = $2`,
);

const unpack = promisify(gunzip);

/** The bytes that were received; undefined once their retention is over. */
export async function payloadBytesOf(database: Database, { id, receivedAt }: Pick<Event, 'id' | 'receivedAt'>): Promise<Buffer | undefined> {
  const stored = await database.first(payloadOf, id, receivedAt);
  return stored?.isGzip ? unpack(stored.body) : stored?.body;
}

/** The payload as JSON in UTF-8; undefined once its retention is over. */
export async function payloadJsonOf(database: Database, event: Pick<Event, 'id' | 'receivedAt'>): Promise<Buffer | undefined> {
  const bytes = await payloadBytesOf(database, event);
  // The workers read malformed UTF-8 with replacement characters, and so does every reader here.
  return !bytes || isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}

export const payloadTextOf = async (database: Database, event: Pick<Event, 'id' | 'receivedAt'>): Promise<string | undefined> =>
  (await payloadJsonOf(database, event))?.toString('utf8');
