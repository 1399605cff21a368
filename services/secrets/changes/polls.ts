// Long polls of the change feed: who is behind is answered at once, all others wait for one statement that the process repeats for all of them.
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { answer, route } from '../../platform/http/route.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { every, withTimeout } from '../../platform/time.ts';
import { Change, ChangesAfter, ChangesPage, Problems, unkept } from '../contract.ts';
import type { ChangeRow, ChangeStore } from './store.ts';

const pageSize = 100;
/** Below the 30 s after which many proxies give up who says nothing. */
const longestMs = 25_000;
const lookEveryMs = 500;
/** Connections that polls may use at once; the pool has eight, and the consumer plane uses the others. */
const readsAtOnce = 2;
const readWaitMs = 5000;

export type ChangePollsParts = {
  readonly store: Pick<ChangeStore, 'newest' | 'from' | 'after'>;
  readonly lifecycle: Lifecycle;
  readonly metrics: Metrics;
  /** That wait at the same time. */
  readonly maxPolls: number;
};

type WaitingPoll = {
  /** The number of the newest change that its caller knows; there was none above when it began to wait. */
  readonly after: number;
  readonly end: (rows: readonly ChangeRow[]) => void;
  readonly fail: (error: unknown) => void;
};

export type ChangePolls = ReturnType<typeof createChangePolls>;

export function createChangePolls({ store, lifecycle, metrics, maxPolls }: ChangePollsParts) {
  const waiting = new Set<WaitingPoll>();
  const reads = createSemaphore(readsAtOnce);
  const ended = countersOf(metrics, () => waiting.size);

  /** One query for all polls. A poll that begins to wait meanwhile may need later changes, and waits for the next query. */
  async function look(): Promise<void> {
    const polls = [...waiting];
    if (polls.length === 0) return;
    try {
      const lowest = polls.reduce((least, { after }) => Math.min(least, after), Infinity);
      const rows = await store.after(lowest, pageSize);
      for (const { after, end } of polls) {
        const unseen = rows.filter(({ number }) => number > after);
        if (unseen.length > 0) end(unseen);
      }
    } catch (error) {
      for (const { fail } of polls) fail(error);
    }
  }

  const looking = every(lookEveryMs, lifecycle.stopping, look);
  lifecycle.onStop('change polls', () => looking);
  lifecycle.stopping.addEventListener('abort', () => waiting.forEach(({ end }) => end([])), { once: true });

  async function read<T>(work: () => Promise<T>): Promise<T> {
    if (!(await reads.acquire(1, readWaitMs))) throw tooMany();
    return work().finally(() => reads.release(1));
  }

  async function wait(after: number, ms: number): Promise<readonly ChangeRow[]> {
    if (lifecycle.stopping.aborted) return [];
    if (waiting.size >= maxPolls) throw tooMany();
    const { promise, resolve: end, reject: fail } = Promise.withResolvers<readonly ChangeRow[]>();
    const poll = { after, end, fail };
    waiting.add(poll);
    return withTimeout(promise, ms, () => []).finally(() => waiting.delete(poll));
  }

  function tooMany() {
    ended('refused');
    return Problems.tooManyPolls({ headers: { 'Retry-After': '5' } });
  }

  return {
    /** @throws Problem 410 when no such change is kept, 503 when too many wait */
    async poll(cursor: string, startedAtMs: number): Promise<ChangesPage> {
      const found = await read(() => store.from(cursor, pageSize));
      if (!found) {
        ended('gone');
        throw Problems.cursorGone();
      }
      const { at, following } = found;
      const rows = following.length > 0 ? following : await wait(at.number, startedAtMs + longestMs - performance.now());
      ended(rows.length > 0 ? 'changed' : 'unchanged');
      return { cursor: rows.at(-1)?.id ?? at.id, changes: rows.map((row) => Change.parse(row)) };
    },
    /** From now on. */
    begin: async (): Promise<ChangesPage> => ({ cursor: await read(() => store.newest()), changes: [] }),
  };
}

const outcomes = ['changed', 'unchanged', 'gone', 'refused'] as const;

function countersOf(metrics: Metrics, waiting: () => number): (outcome: (typeof outcomes)[number]) => void {
  metrics.gauge({
    name: 'signalbox_secrets_change_polls_waiting',
    help: 'Polls of the change feed that wait for a change',
    labels: [],
    collect: (reading) => reading.set(waiting()),
  });
  const polls = metrics.counter({
    name: 'signalbox_secrets_change_polls_total',
    help: 'Polls of the change feed, by outcome',
    labels: ['outcome'],
    series: outcomes.map((outcome) => ({ outcome })),
  });
  return (outcome) => polls.inc({ outcome });
}

/** The next poll must ask, not a cache. */

export const changeRoutes = (polls: ChangePolls) => [
  route({
    method: 'get',
    path: '/api/management/changes',
    operationId: 'listChanges',
    describedAnswerHeaders: { 200: { 'Cache-Control': '`no-store`: the next poll must ask the service' } },
    isQueryClosed: true,
    summary: 'Lists up to 100 changes after a cursor, waiting up to 25 s for the first; without a cursor answers the newest cursor at once',
    description:
      'Long poll for programs that keep copies of secrets. The answer comes at once when there are changes after the cursor, else with the first change or after 25 seconds without one. Without a cursor it is the newest cursor and no changes.',
    query: ChangesAfter,
    answers: { 200: ChangesPage },
    problems: [Problems.cursorGone, Problems.tooManyPolls],
    async handle({ query: { after }, startedAtMs }) {
      return answer(200, await (after === '' ? polls.begin() : polls.poll(after, startedAtMs)), unkept);
    },
  }),
];
