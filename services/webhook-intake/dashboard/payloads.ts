// Payloads on their way to readers, within the memory that they share: in the document of an event, and as the bytes that were received.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { answer, type AnyRoute, Content, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import { Problems } from '../contract.ts';
import { DashboardHeaders } from './statistics.ts';
import type { DashboardStore, EventWithHeaders } from './store.ts';

/** Bytes that the payloads of all events that are being answered may hold together, and how long one of them waits for its share. */
export type PayloadMemory = { readonly bytes: Semaphore; readonly waitMs: number };

/** A payload in memory: as the database sends it, in hexadecimal; packed; unpacked. Most pack to a tenth, none to more than they are. */
const copies = 4;

/** Reads within the shared memory, which the answer holds until it is sent or its reader has left. @throws Problem 503 when there is none in time */
async function within(event: EventWithHeaders, { bytes, waitMs }: PayloadMemory, read: () => Promise<Readable>): Promise<Readable> {
  const units = Math.min(event.bytes * copies, bytes.capacity);
  const release = () => bytes.release(units);
  if (!(await bytes.acquire(units, waitMs))) throw Common.unavailable({ detail: 'Too many large payloads at once.', headers: { 'Retry-After': '5' } });
  try {
    return (await read()).once('close', release);
  } catch (error) {
    release();
    throw error;
  }
}

/** The event as JSON text. @throws Problem 404, 503 when there is no memory in time */
export async function eventDocument(store: DashboardStore, memory: PayloadMemory, id: string): Promise<Content> {
  const event = await store.event(id);
  if (!event) throw Problems.eventMissing();
  return new Content('application/json; charset=utf-8', await within(event, memory, async () => documentOf(event, await store.payload(event))));
}

/** The payload was JSON when it was stored, so the whole is. */
function documentOf(event: EventWithHeaders, payload: Buffer | undefined): Readable {
  const opening = `${JSON.stringify(event).slice(0, -1)},"payload":`;
  // In three pieces: a payload of 25 MiB is not copied once more.
  return Readable.from([Buffer.from(opening), payload ?? Buffer.from('null'), Buffer.from('}')]);
}

const Raw = z.unknown().meta({ id: 'RawPayload', description: 'The bytes that were received', examples: [{ action: 'opened', issue: { number: 7 } }] });
const entity = { ETag: 'A strong entity tag', 'Accept-Ranges': '`bytes`', 'Content-Length': 'The number of bytes of the answer' };

const PayloadHeaders = DashboardHeaders.extend({
  Range: z
    .string()
    .optional()
    .meta({ description: 'One range, such as `bytes=0-1023`, `bytes=1024-` or `bytes=-512`', examples: ['bytes=0-1023'] }),
  'If-Range': z.string().optional().meta({ description: 'The ETag of an earlier answer; with another one the answer is the whole' }),
  'If-None-Match': z.string().optional().meta({ description: 'The ETag of an earlier answer; the same one is answered 304' }),
});

export const payloadRoute = (store: DashboardStore, memory: PayloadMemory, params: z.ZodObject<{ id: z.ZodString }>): AnyRoute =>
  route({
    method: 'get',
    path: '/api/v1/events/{id}/payload',
    operationId: 'getEventPayload',
    summary: 'The payload of an event, as the bytes that were received',
    description: 'The signature of the forge covers these bytes. One range of bytes can be asked for; several at once are answered with the whole.',
    params,
    headers: PayloadHeaders,
    answers: { 200: Raw, 206: Raw, 304: null },
    describedAnswerHeaders: {
      200: entity,
      206: { ...entity, 'Content-Range': 'The range and the number of all bytes' },
      304: { ETag: entity.ETag },
      416: { 'Content-Range': 'The number of all bytes' },
    },
    problems: [Problems.eventMissing, Problems.payloadMissing, Problems.rangeUnsatisfiable],
    async handle({ params: { id }, headers, isRepeated }) {
      const event = await store.event(id);
      if (!event) throw Problems.eventMissing();
      // A payload never changes.
      const tag = { ETag: `"${event.id}"` };
      if (isNamed(headers['If-None-Match'], tag.ETag)) return answer(304, null, tag);
      const isWhole = headers['If-Range'] !== undefined && headers['If-Range'] !== tag.ETag;
      const range = isWhole || isRepeated('range') ? undefined : rangeOf(headers.Range);
      const found: { part?: Part } = {};
      const bytes = await within(event, memory, async () => {
        const payload = await store.payloadBytes(event);
        if (!payload) throw Problems.payloadMissing();
        found.part = partOf(payload, range);
        return Readable.from([found.part.bytes]);
      });
      const part = found.part ?? { bytes: Buffer.alloc(0), contentRange: undefined };
      const content = new Content('application/json', bytes);
      const described = { ...tag, 'Accept-Ranges': 'bytes', 'Content-Length': String(part.bytes.length) };
      return part.contentRange === undefined ? answer(200, content, described) : answer(206, content, { ...described, 'Content-Range': part.contentRange });
    },
  });

const isNamed = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag) === true;

/** The first byte and the last one, or how many at the end. */
type Range = { readonly first: number; readonly last: number } | { readonly atEnd: number };

/** RFC 9110 section 14.1.2; undefined for anything but one range of bytes, which is ignored. */
function rangeOf(header: string | undefined): Range | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header?.trim() ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { atEnd: Number(last) };
  const range = { first: Number(first), last: last === '' ? Infinity : Number(last) };
  return range.last < range.first ? undefined : range;
}

type Part = { readonly bytes: Buffer; readonly contentRange: string | undefined };

/** @throws Problem 416 */
function partOf(payload: Buffer, range: Range | undefined): Part {
  if (!range) return { bytes: payload, contentRange: undefined };
  const { length } = payload;
  const [from, to] = 'atEnd' in range ? [Math.max(0, length - range.atEnd), length] : [range.first, Math.min(range.last + 1, length)];
  if (from >= to) throw Problems.rangeUnsatisfiable({ headers: { 'Content-Range': `bytes */${length}` } });
  return { bytes: payload.subarray(from, to), contentRange: `bytes ${from}-${to - 1}/${length}` };
}
