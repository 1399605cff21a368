// Reading the event log: pages of it, one event with its payload, and the history of one pull request.
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { Content } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { TimestampInput } from '../../platform/schema.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import { storable } from '../../platform/json.ts';
import { type Event, Problems } from '../contract.ts';
import type { TypedItem } from '../typed/typed-table.ts';
import { filterText, type Page, pageOf, type TimePage, timePage } from './paging.ts';
import type { DashboardStore, EventFilter, EventWithHeaders, StoredPayload } from './store.ts';

const list = 'events';
const historyList = 'pulls/history';

export const EventQuery = z.object({
  source: filterText.meta({ description: '`forge`, or the name of a direct source' }),
  event: filterText.meta({ description: 'The kind of the event, such as `issues`' }),
  repository: filterText.meta({ description: '`owner/name`' }),
  sender: filterText.meta({ description: 'The login of who caused it' }),
  deliveryId: filterText.meta({ description: 'What the forge or the source calls the delivery' }),
  from: TimestampInput.optional().meta({ description: 'Received at this time or later' }),
  to: TimestampInput.optional().meta({ description: 'Received before this time' }),
  ...timePage(list),
});
export type EventQuery = z.output<typeof EventQuery>;
export const HistoryQuery = z.object(timePage(historyList));

export type RepositoryPath = { readonly owner: string; readonly repo: string };

const isUuid = (text: string) => z.uuid().safeParse(text).success;
const maxNumber = 2 ** 31 - 1;

/** Bytes that the payloads of all events that are being answered may hold together, and how long one of them waits for its share. */
export type PayloadMemory = { readonly bytes: Semaphore; readonly waitMs: number };

export type Events = ReturnType<typeof createEvents>;

export function createEvents(store: DashboardStore, { bytes, waitMs }: PayloadMemory) {
  async function page(of: string, filter: EventFilter, { limit, after }: TimePage): Promise<Page<Event>> {
    const found = await store.newestEvents(filter, { limit, after });
    return pageOf(of, { ...found, limit }, ({ receivedAt, id }) => [receivedAt.getTime(), id]);
  }
  return {
    list: ({ limit, after, ...filter }: EventQuery) => page(list, filter, { limit, after }),

    /** The event as JSON text, within the memory that all payloads share until it is sent. @throws Problem 503 when there is none in time */
    async get(id: string): Promise<Content> {
      const event = isUuid(id) ? await store.event(id) : undefined;
      if (!event) throw Problems.eventMissing();
      const units = Math.min(event.bytes * copies, bytes.capacity);
      const release = () => bytes.release(units);
      if (!(await bytes.acquire(units, waitMs))) throw Common.unavailable({ detail: 'Too many large payloads at once.', headers: { 'Retry-After': '5' } });
      try {
        const document = await documentOf(event, await store.payload(event));
        // Closed when it was sent to its end, and when the reader went away before.
        return new Content('application/json; charset=utf-8', document.once('close', release));
      } catch (error) {
        release();
        throw error;
      }
    },

    async pullRequestHistory(
      { n, ...path }: RepositoryPath & { readonly n: string },
      paging: TimePage,
    ): Promise<Page<Event> & { pullRequest: TypedItem | null }> {
      const repository = repositoryName(path);
      const number = /^[1-9]\d{0,9}$/.test(n) && Number(n) <= maxNumber ? Number(n) : undefined;
      if (number === undefined) throw Problems.pullRequestMissing();
      const pullRequest = (await store.pullRequest(repository, number)) ?? null;
      // A repository that is not ours has events, but no typed rows; an issue's number is no pull request.
      if (!pullRequest && !(await store.knowsPullRequest(repository, number))) throw Problems.pullRequestMissing();
      return { pullRequest, ...(await page(historyList, { repository, number }, paging)) };
    },
  };
}

/** As it is stored: a name that Postgres cannot hold finds nothing instead of failing. */
export const repositoryName = ({ owner, repo }: RepositoryPath) => storable(`${owner}/${repo}`);

const unpack = promisify(gunzip);

/** A payload in memory: as the database sends it, in hexadecimal; packed; unpacked. Most pack to a tenth, none to more than they are. */
const copies = 4;

/** It was JSON when it was stored, so the whole is. */
async function documentOf(event: EventWithHeaders, payload: StoredPayload | undefined): Promise<Readable> {
  const opening = `${JSON.stringify(event).slice(0, -1)},"payload":`;
  const value = payload ? await jsonText(payload) : Buffer.from('null');
  // In three pieces: a payload of 25 MiB is not copied once more.
  return Readable.from([Buffer.from(opening), value, Buffer.from('}')]);
}

async function jsonText({ isGzip, body }: StoredPayload): Promise<Buffer> {
  const bytes = isGzip ? await unpack(body) : body;
  // The workers read malformed UTF-8 with replacement characters, and so does whoever reads it here.
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'));
}
