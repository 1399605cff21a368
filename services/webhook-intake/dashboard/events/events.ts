// Reading the event log: pages of it, one event, and the history of one pull request.
import { z } from 'zod';
import type { SharedMemory } from '../../../platform/http/byte-budget.ts';
import type { Content } from '../../../platform/http/route.ts';
import { TimestampInput } from '../../../platform/schema.ts';
import { storable } from '../../../platform/text.ts';
import { type Event, Problems } from '../../contract.ts';
import { filterText, type Page, pageOf, type TimePage, timePage } from '../paging.ts';
import type { PullRequest } from '../typed/items.ts';
import type { TypedStore } from '../typed/store.ts';
import { eventDocument } from './event-document.ts';
import type { EventFilter, EventStore } from './store.ts';

const list = 'events';
const historyList = 'pulls/history';

export const EventQuery = z.object({
  source: filterText,
  event: filterText,
  repository: filterText,
  sender: filterText,
  from: TimestampInput.optional(),
  to: TimestampInput.optional(),
  ...timePage(list),
});
export type EventQuery = z.output<typeof EventQuery>;
export const HistoryQuery = z.object(timePage(historyList));

export type RepositoryPath = { readonly owner: string; readonly repo: string };

export type Events = ReturnType<typeof createEvents>;

const isUuid = (text: string) => z.uuid().safeParse(text).success;
const maxNumber = 2 ** 31 - 1;

export type EventsParts = {
  readonly store: EventStore;
  readonly typed: Pick<TypedStore, 'pullRequest'>;
  /** Shared by the payloads of all events that are being answered. */
  readonly payloadMemory: SharedMemory;
};

export function createEvents({ store, typed, payloadMemory }: EventsParts) {
  async function page(of: string, filter: EventFilter, { limit, after }: TimePage): Promise<Page<Event>> {
    const rows = await store.newest(filter, { limit, after });
    return pageOf(of, { rows, limit }, ({ receivedAt, id }) => [receivedAt.getTime(), id]);
  }
  return {
    list: ({ limit, after, ...filter }: EventQuery) => page(list, filter, { limit, after }),

    /** The event as JSON text. */
    async get(id: string): Promise<Content> {
      const event = isUuid(id) ? await store.find(id) : undefined;
      if (!event) throw Problems.eventMissing();
      return eventDocument(event, () => store.payload(event), payloadMemory);
    },

    async pullRequestHistory(
      { n, ...path }: RepositoryPath & { readonly n: string },
      paging: TimePage,
    ): Promise<Page<Event> & { pullRequest: PullRequest | null }> {
      const repository = repositoryName(path);
      const number = /^[1-9]\d{0,9}$/.test(n) && Number(n) <= maxNumber ? Number(n) : undefined;
      if (number === undefined) throw Problems.pullRequestMissing();
      const pullRequest = (await typed.pullRequest(repository, number)) ?? null;
      // A repository that is not ours has events, but no typed rows; an issue's number is no pull request.
      if (!pullRequest && !(await store.knowsPullRequest(repository, number))) throw Problems.pullRequestMissing();
      return { pullRequest, ...(await page(historyList, { repository, number }, paging)) };
    },
  };
}

/** As it is stored: a name that Postgres cannot hold finds nothing instead of failing. */
export const repositoryName = ({ owner, repo }: RepositoryPath) => storable(`${owner}/${repo}`);
