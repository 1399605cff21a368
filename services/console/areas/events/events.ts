// The area Events: the log that follows, one event, the way of a delivery, and the typed lists.
import type { Declared } from '../../pages.ts';
import { eventPages } from './event.ts';
import { eventList } from './event-list.ts';
import { followResource } from './follow.ts';
import type { Following } from './following.ts';
import { tracePage } from './trace.ts';
import { typedPages } from './typed-lists.ts';

/** The first declaration that matches a path takes a request: `/events/{id}` is behind all others. */
export const createEventPages = (following: Following, heartbeatMs?: number): readonly Declared[] => [
  eventList,
  followResource(following, heartbeatMs),
  ...typedPages,
  tracePage,
  ...eventPages,
];
