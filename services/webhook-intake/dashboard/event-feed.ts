// The event log in the order of storing, for clients that follow it: one look at the database serves all that wait.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { Common } from '../../platform/problem.ts';
import { sleepUntil } from '../../platform/time.ts';
import { Problems } from '../contract.ts';
import { eventColumns } from '../stored-events.ts';
import { type EventFilter, type FedEvent, matcherOf } from './event-filter.ts';

const lookEveryMs = 50;
/** Read at once; a client whose filter passes few of them reads on until its time is over. */
const readRows = 1000;
const mostWaiting = 1000;

const lastPosition = statement<{ position: number }>('feed.last', 'select last_position as position from event_feed');
const eventsAfter = statement<FedEvent, [position: number, rows: number]>(
  'feed.after',
  `select ${eventColumns}, position, search_text as "searchText" from events where position > $1 order by position limit $2`,
);
const fold = statement<{ folded: string }, [text: string]>('feed.fold', 'select folded($1) as folded');

type Follower = {
  position: number;
  readonly limit: number;
  readonly matches: (event: FedEvent) => boolean;
  readonly found: FedEvent[];
};

type Waiting = Follower & { readonly wake: (error?: unknown) => void };

export type Following = {
  readonly filter: EventFilter;
  /** Events behind this position; undefined for those that are stored from now on. */
  readonly after: number | undefined;
  readonly limit: number;
  /** 0 answers at once. */
  readonly waitMs: number;
  /** Aborted when the client has left. */
  readonly left: AbortSignal;
};

export type EventFeed = ReturnType<typeof createEventFeed>;

export function createEventFeed({ database, stopping }: { readonly database: Database; readonly stopping: AbortSignal }) {
  const waiting = new Set<Waiting>();
  const newest = async () => (await database.first(lastPosition))?.position ?? 0;

  /** @returns whether there is nothing behind these rows yet */
  function take(follower: Follower, rows: readonly FedEvent[]): boolean {
    for (const row of rows) {
      if (row.position <= follower.position) continue;
      if (follower.found.length === follower.limit) return false;
      follower.position = row.position;
      if (follower.matches(row)) follower.found.push(row);
    }
    return rows.length < readRows;
  }

  /** The one row of the last position for all, and events only behind it. A client that is further behind takes those after its first 1000 with the next looks. */
  async function look(): Promise<void> {
    const followers = [...waiting];
    if (followers.length === 0) return;
    try {
      const lowest = followers.reduce((least, { position }) => Math.min(least, position), Infinity);
      if ((await newest()) <= lowest) return;
      const rows = await database.all(eventsAfter, lowest, readRows);
      for (const follower of followers) {
        take(follower, rows);
        if (follower.found.length > 0) follower.wake();
      }
    } catch (error) {
      for (const { wake } of followers) wake(error);
    }
  }

  let isLooking = false;
  async function lookWhileWaiting(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    while (waiting.size > 0 && (await sleepUntil(stopping, lookEveryMs))) await look();
    isLooking = false;
  }

  async function wait(follower: Follower, { waitMs, left }: Pick<Following, 'waitMs' | 'left'>): Promise<void> {
    if (waiting.size >= mostWaiting) throw Common.unavailable({ detail: 'Too many clients wait for events.', headers: { 'Retry-After': '5' } });
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const one: Waiting = { ...follower, wake: (error) => (error === undefined ? resolve(undefined) : reject(error)) };
    const end = AbortSignal.any([stopping, left, AbortSignal.timeout(waitMs)]);
    const onEnd = () => one.wake();
    end.addEventListener('abort', onEnd, { once: true });
    waiting.add(one);
    void lookWhileWaiting();
    try {
      if (!end.aborted) await promise;
    } finally {
      waiting.delete(one);
      end.removeEventListener('abort', onEnd);
    }
    follower.position = one.position;
  }

  return {
    newest,
    /**
     * The next events that pass the filter, in the order of storing; none when the time is over first.
     * @returns them with the position to go on from @throws Problem 410 when the log has not come as far as the position
     */
    async follow({ filter, after, limit, waitMs, left }: Following): Promise<{ readonly rows: readonly FedEvent[]; readonly position: number }> {
      const folded = filter.q === undefined ? undefined : (await database.first(fold, filter.q))?.folded;
      const last = await newest();
      if (after !== undefined && after > last) throw Problems.feedGone();
      const follower: Follower = { position: after ?? last, limit, matches: matcherOf(filter, folded), found: [] };
      const until = performance.now() + waitMs;
      let isAtEnd;
      do isAtEnd = take(follower, await database.all(eventsAfter, follower.position, readRows));
      while (!isAtEnd && follower.found.length === 0 && !left.aborted && performance.now() < until);
      const restMs = Math.ceil(until - performance.now());
      if (follower.found.length === 0 && restMs > 0) await wait(follower, { waitMs: restMs, left });
      return { rows: follower.found, position: follower.position };
    },
  };
}
