// An event with its payload as JSON text: the payload's bytes are put in as they were received, never parsed.
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { SharedMemory } from '../../../platform/http/byte-budget.ts';
import { Common } from '../../../platform/problem.ts';
import { Content } from '../../../platform/http/route.ts';
import type { EventWithHeaders, StoredPayload } from './store.ts';

const unpack = promisify(gunzip);

/** A payload in memory: as the database sends it, in hexadecimal; packed; unpacked. Most pack to a tenth, none to more than they are. */
const copies = 4;

/**
 * The document, within the memory that all payloads share until it is sent.
 * @param read asked for once there is room
 * @throws Problem 503 when there is none in time
 */
export async function eventDocument(event: EventWithHeaders, read: () => Promise<StoredPayload | undefined>, memory: SharedMemory): Promise<Content> {
  const room = await memory.budget.acquire(event.bytes * copies, memory.waitMs);
  if (!room) throw Common.unavailable({ detail: 'Too many large payloads at once.', headers: { 'Retry-After': '5' } });
  try {
    const { mediaType, data } = await compose(event, await read());
    // Closed when it was sent to its end, and when the reader went away before.
    return new Content(mediaType, data.once('close', room.release));
  } catch (error) {
    room.release();
    throw error;
  }
}

/** It was JSON when it was stored, so the whole is. */
async function compose(event: EventWithHeaders, payload: StoredPayload | undefined) {
  const opening = `${JSON.stringify(event).slice(0, -1)},"payload":`;
  const value = payload ? await jsonText(payload) : Buffer.from('null');
  // In three pieces: a payload of 25 MiB is not copied once more.
  return { mediaType: 'application/json; charset=utf-8', data: Readable.from([Buffer.from(opening), value, Buffer.from('}')]) };
}

async function jsonText({ isGzip, body }: StoredPayload): Promise<Buffer> {
  const bytes = isGzip ? await unpack(body) : body;
  // The workers read malformed UTF-8 with replacement characters, and so does whoever reads it here.
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}
