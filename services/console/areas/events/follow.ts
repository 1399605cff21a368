// The stream of new events for one list: what came while it was not connected, then each event as it is stored.
import { PassThrough } from 'node:stream';
import { z } from 'zod';
import { every } from '../../../platform/time.ts';
import { answer, Content } from '../../../platform/http/route.ts';
import { FollowedEventPage } from '../../../webhook-intake/contract.ts';
import { type Declared, resource, type Visit } from '../../pages.ts';
import { tableRow } from '../../view/lists.ts';
import { toTrees } from '../../view/tree-message.ts';
import { askedFilter, EventFilter, matcherOf, type ShownEvent } from './event-filter.ts';
import { eventColumns } from './event-table.ts';
import type { Follower, Following } from './following.ts';

const heartbeatMs = 15_000;
/** A list shows 100 rows; one that missed more is loaded again. */
const mostMissed = 200;
/** A browser that takes nothing of its stream is disconnected; it comes back with the id of the last event that it has. */
const mostBufferedBytes = 1_048_576;

/** `since` is the place in the log of the page; `lastEventId` is that of a script that connects again by itself. */
const FollowQuery = EventFilter.extend({ since: z.string().optional(), lastEventId: z.string().optional() });
type FollowQuery = z.output<typeof FollowQuery>;

export const followResource = (following: Following, beatMs = heartbeatMs): Declared =>
  resource({
    path: '/events/follow',
    area: 'events',
    query: FollowQuery,
    async answer(visit) {
      const stream = createStream();
      const { since, lastEventId = since, ...filter } = visit.query;
      const cursor = visit.lastEventId ?? lastEventId;
      await begin(stream, { visit, following, cursor, filter });
      void every(beatMs, stream.ended, () => beat(stream, visit));
      const unwatch = visit.onAccessChange(() => void beat(stream, visit));
      stream.ended.addEventListener('abort', unwatch, { once: true });
      return answer(200, new Content('text/event-stream', stream.readable), { 'X-Accel-Buffering': 'no' });
    },
  });

type Stream = ReturnType<typeof createStream>;

function createStream() {
  const readable = new PassThrough();
  const ended = new AbortController();
  readable.once('close', () => ended.abort());
  // A browser that has left is no failure of ours.
  readable.on('error', () => readable.destroy());
  readable.write('retry: 2000\n\n');
  return {
    readable,
    ended: ended.signal,
    send(text: string): void {
      if (readable.writableEnded || readable.destroyed) return;
      if (readable.writableLength > mostBufferedBytes) readable.destroy();
      else readable.write(text);
    },
    end: () => void readable.end(() => ended.abort()),
  };
}

const message = (event: string, data: string, id?: string) => `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;

type Beginning = {
  readonly visit: Pick<Visit, 'ask' | 'locale' | 'person' | 'signal'>;
  readonly following: Following;
  readonly cursor: string | undefined;
  readonly filter: EventFilter;
};

/** Joins first, and keeps what comes meanwhile: so nothing is missed between what was stored before and what is stored now. */
async function begin(stream: Stream, { visit, following, cursor, filter: given }: Beginning): Promise<void> {
  const { locale, person, ask, signal } = visit;
  const filter = askedFilter(given, person.zone);
  const columns = eventColumns(locale);
  const passes = matcherOf(filter);
  const sent = new Set<string>();
  let waiting: (() => void)[] | undefined = [];

  function send(events: readonly ShownEvent[], position: string): void {
    const rows = events.filter((event) => passes(event) && !sent.has(event.id));
    // The id leads on behind all of them, and comes with the last: a browser that is cut off before gets them once more.
    const texts = rows.map((event, index) => rowMessage(event, index === rows.length - 1 ? position : undefined));
    stream.send(texts.join(''));
  }
  const rowMessage = (event: ShownEvent, id?: string) => message('row', JSON.stringify(toTrees(tableRow(columns, event, event.id))[0]), id);

  const follower: Follower = {
    person: person.id,
    onEvents: (events, position) => (waiting ? waiting.push(() => send(events, position)) : send(events, position)),
    onState: (state) => stream.send(message(state, '')),
  };
  const leave = () => following.leave(follower);
  await following.join(follower);
  try {
    if (cursor !== undefined) {
      const query = { ...filter, before: cursor, limit: mostMissed };
      const { items, newest } = await ask('intake').get('/api/v1/events', FollowedEventPage, query);
      if (items.length === mostMissed) stream.send(message('behind', ''));
      send(items, newest);
      for (const { id } of items) sent.add(id);
    }
  } catch (error) {
    leave();
    throw error;
  }
  waiting.forEach((deliver) => deliver());
  waiting = undefined;
  const end = () => stream.end();
  for (const one of [signal, following.stopping]) one.addEventListener('abort', end, { once: true });
  stream.ended.addEventListener(
    'abort',
    () => {
      leave();
      following.stopping.removeEventListener('abort', end);
    },
    { once: true },
  );
  if (signal.aborted || following.stopping.aborted) end();
}

/** Keeps proxies from closing the connection, and ends the stream where the session or the role has ended. */
async function beat(stream: Stream, { isStillAllowed }: Pick<Visit, 'isStillAllowed'>): Promise<void> {
  // While the database is away the stream goes on.
  if (await isStillAllowed().catch(() => true)) return stream.send(': \n\n');
  stream.send(message('ended', ''));
  stream.end();
}
