// The event log and one event with its payload: routes and rules.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { type AnyRoute, Content, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { TimestampInput } from '../../platform/schema.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import { type Event, EventDetail, EventPage, Problems } from '../contract.ts';
import { filterText, forgeFilter, type Page, pageOf, type TimePage, sourceFilter, timePage } from '../paging.ts';
import type { DashboardStore, EventFilter, EventWithHeaders } from './store.ts';

const list = 'events';

const EventQuery = z.object({
  source: sourceFilter,
  forge: forgeFilter,
  event: filterText.meta({ description: 'The kind of the event, such as `issues`' }),
  repository: filterText.meta({ description: '`owner/name`, in any case' }),
  sender: filterText.meta({ description: 'The login of the account that caused it' }),
  deliveryId: filterText.meta({ description: 'The id that the forge or the source gave the delivery' }),
  from: TimestampInput.optional().meta({ description: 'Received at this time or later' }),
  to: TimestampInput.optional().meta({ description: 'Received before this time' }),
  ...timePage(list),
});

const isUuid = (text: string) => z.uuid().safeParse(text).success;

/** Bytes that the payloads of all events that are being answered may hold together, and how long one of them waits for its share. */
export type PayloadMemory = { readonly bytes: Semaphore; readonly waitMs: number };

export const eventRoutes = (store: DashboardStore, memory: PayloadMemory): AnyRoute[] => [
  route({
    method: 'get',
    path: '/api/v1/events',
    operationId: 'listEvents',
    summary: 'The event log, newest first',
    description: 'Events by the time at which they were received. Several filters hold together; a page may be shorter than `limit` and have a `next`.',
    query: EventQuery,
    answers: { 200: EventPage },
    handle: ({ query: { limit, after, ...filter } }) => eventPage(store, filter, { list, limit, after }),
  }),
  route({
    method: 'get',
    path: '/api/v1/events/{id}',
    operationId: 'getEvent',
    summary: 'One event with its headers and payload',
    description: 'The payload is the JSON value of the delivery, byte for byte where it was valid UTF-8.',
    params: z.object({ id: z.string().meta({ description: 'The id of the event' }) }),
    answers: { 200: EventDetail },
    problems: [Problems.eventMissing],
    handle: ({ params }) => eventDocument(store, memory, params.id),
  }),
];

/** @param page whose cursors are those of `list` */
export async function eventPage(store: DashboardStore, filter: EventFilter, page: TimePage & { readonly list: string }): Promise<Page<Event>> {
  const { list: of, limit, after } = page;
  const found = await store.newestEvents(filter, { limit, after });
  return pageOf(of, { ...found, limit }, ({ receivedAt, id }) => [receivedAt.getTime(), id]);
}

/** The event as JSON text, within the memory that all payloads share until it is sent. @throws Problem 503 when there is none in time */
async function eventDocument(store: DashboardStore, { bytes, waitMs }: PayloadMemory, id: string): Promise<Content> {
  const event = isUuid(id) ? await store.event(id) : undefined;
  if (!event) throw Problems.eventMissing();
  const units = Math.min(event.bytes * copies, bytes.capacity);
  const release = () => bytes.release(units);
  if (!(await bytes.acquire(units, waitMs))) throw Common.unavailable({ detail: 'Too many large payloads at once.', headers: { 'Retry-After': '5' } });
  try {
    const document = documentOf(event, await store.payload(event));
    // Closed when it was sent to its end, and when the reader went away before.
    return new Content('application/json; charset=utf-8', document.once('close', release));
  } catch (error) {
    release();
    throw error;
  }
}

/** A payload in memory: as the database sends it, in hexadecimal; packed; unpacked. Most pack to a tenth, none to more than they are. */
const copies = 4;

/** It was JSON when it was stored, so the whole is. */
function documentOf(event: EventWithHeaders, payload: Buffer | undefined): Readable {
  const opening = `${JSON.stringify(event).slice(0, -1)},"payload":`;
  // In three pieces: a payload of 25 MiB is not copied once more.
  return Readable.from([Buffer.from(opening), payload ?? Buffer.from('null'), Buffer.from('}')]);
}
