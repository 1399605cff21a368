// The event log, as a list and as a feed, and one event: routes and rules.
import { z } from 'zod';
import { type AnyRoute, route } from '../../platform/http/route.ts';
import { encodeCursor, queryBoolean, queryCursor, queryInteger } from '../../platform/schema.ts';
import { type Event, EventDetail, FollowedEventPage, Problems } from '../contract.ts';
import { type Page, pageOf, type TimePage, timePage } from '../paging.ts';
import { eventFilters, type EventFilter } from './event-filter.ts';
import type { EventFeed } from './event-feed.ts';
import { EventFacets } from './contract.ts';
import { facetsOf } from './facets.ts';
import { eventDocument, type PayloadMemory, payloadRoute } from './payloads.ts';
import type { DashboardStore } from './store.ts';

const list = 'events';
const feedList = 'events/stored';
const longestWaitSeconds = 60;

const EventQuery = z
  .object({
    ...eventFilters,
    before: queryCursor(feedList, z.tuple([z.int().min(0)]), 'the `newest` of another answer').meta({
      override: { type: 'string' },
      description: 'The `newest` of another answer: the events that were stored after it, in the order of storing',
    }),
    wait: queryInteger({ min: 0, max: longestWaitSeconds }).meta({
      description: 'Seconds to wait for an event that is stored after `before`, or from now on; the answer comes with the first one',
    }),
    ...timePage(list),
  })
  .refine(({ after, before, wait }) => after === undefined || (before === undefined && wait === undefined), {
    path: ['after'],
    error: 'leads to older events; it does not go with before and wait',
  });

const EventPath = z.object({ id: z.string().meta({ description: 'The id of the event' }) });

type EventParts = { readonly store: DashboardStore; readonly feed: EventFeed; readonly memory: PayloadMemory };

export const eventRoutes = ({ store, feed, memory }: EventParts): AnyRoute[] => [
  route({
    method: 'get',
    path: '/api/v1/events',
    operationId: 'listEvents',
    summary: 'The event log, newest first; or what was stored since, with before or wait',
    description:
      'Events by the time at which they were received. Several filters hold together; a page may be shorter than `limit` and have a `next`. With `before` or `wait` the answer has the events that were stored after that point, in the order of storing, and `next` is null: `newest` leads on.',
    query: EventQuery,
    answers: { 200: FollowedEventPage },
    problems: [Problems.feedGone],
    async handle({ query: { limit, after, before, wait, ...filter }, left }) {
      if (before === undefined && wait === undefined) {
        // Read first: what is stored meanwhile may be in both answers, and is missing in none.
        const newest = await feed.newest();
        return { ...(await eventPage(store, filter, { list, limit, after })), newest: encodeCursor(feedList, [newest]) };
      }
      const { rows, position } = await feed.follow({ filter, after: before?.[0], limit, waitMs: (wait ?? 0) * 1000, left: left() });
      const items = rows.map(({ position: _position, searchText: _text, ...event }) => event);
      return { items, next: null, newest: encodeCursor(feedList, [position]) };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/events/facets',
    operationId: 'countEvents',
    summary: 'How many events there are of each source, forge, event, action, repository, sender and class of sender',
    description: 'Counts the newest events that pass the filters, and looks at the newest 10 000 at most; `from` is the oldest of them where there are more.',
    query: z.object(eventFilters),
    answers: { 200: EventFacets },
    handle: async ({ query }) => facetsOf(await store.facets(query)),
  }),
  route({
    method: 'get',
    path: '/api/v1/events/{id}',
    operationId: 'getEvent',
    summary: 'One event with its headers and payload',
    description: 'The payload is the JSON value of the delivery, byte for byte where it was valid UTF-8.',
    params: EventPath,
    query: z.object({
      payload: queryBoolean
        .default(true)
        .meta({ override: { type: 'boolean', default: true }, description: '`false` leaves the payload out: the answer has none' }),
    }),
    answers: { 200: EventDetail },
    problems: [Problems.eventMissing],
    handle: async ({ params, query }) => (query.payload ? eventDocument(store, memory, params.id) : foundEvent(store, params.id)),
  }),
  payloadRoute(store, memory, EventPath),
];

/** @throws Problem 404 */
async function foundEvent(store: DashboardStore, id: string) {
  const event = await store.event(id);
  if (!event) throw Problems.eventMissing();
  return event;
}

/** @param page whose cursors are those of `list` */
export async function eventPage(store: DashboardStore, filter: EventFilter, page: TimePage & { readonly list: string }): Promise<Page<Event>> {
  const { list: of, limit, after } = page;
  const found = await store.newestEvents(filter, { limit, after });
  return pageOf(of, { ...found, limit }, ({ receivedAt, id }) => [receivedAt.getTime(), id]);
}
