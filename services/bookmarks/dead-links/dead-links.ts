// Finds dead links: requests the pages whose check is due, and records the answers.
import type { Outbox } from '../../platform/events/events.ts';
import type { PublicFetch } from '../../platform/http/public-fetch.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { dayMs, hourMs } from '../../platform/time.ts';
import type { CheckConfig } from '../config.ts';
import { type Check, createCheck, visitByHost } from './checks.ts';
import type { CheckedBookmark, CheckStore, DeadBookmark, DueBookmark } from './store.ts';

const longestBackOffDays = 32;
const bookmarksAtOnce = 200;
/** When no page answers, and they are on at least this many hosts, our own network is taken to be down. */
const outageHosts = 5;

type Parts = {
  readonly config: Pick<CheckConfig, 'checkDays' | 'deadAfter'>;
  readonly store: CheckStore;
  readonly fetchPublic: PublicFetch;
  readonly outbox: Outbox;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  readonly stopping: AbortSignal;
  /** Between two requests to one host. Default: a second. */
  readonly pauseMs?: number;
};

type Visited = { readonly bookmark: DueBookmark; readonly check: Check };

export function createDeadLinks(parts: Parts) {
  const { config, store, fetchPublic, outbox, log, metrics, clock, stopping, pauseMs = 1000 } = parts;
  const check = createCheck(fetchPublic, stopping);
  const counter = metrics.counter({
    name: 'signalbox_bookmark_checks_total',
    help: 'Checks of bookmarked pages by what they found: alive, gone, busy (retried later), unknown (no public address).',
    labels: ['outcome'],
    series: ['alive', 'gone', 'busy', 'unknown'].map((outcome) => ({ outcome })),
  });

  /** Skips the remaining pages of a host that is busy. */
  async function visitAll(due: readonly DueBookmark[]): Promise<Visited[]> {
    const visited: Visited[] = [];
    await visitByHost(due, {
      hostsAtOnce: 10,
      pauseMs,
      signal: stopping,
      async visit(bookmark) {
        const found = await check(bookmark.url).catch(() => undefined); // throws only when stopping
        if (found) visited.push({ bookmark, check: found });
        return found?.kind !== 'busy';
      },
    });
    return visited;
  }

  function resultOf({ bookmark: { id, url, failures }, check: found }: Visited, now: Date): CheckedBookmark | undefined {
    if (found.kind === 'busy') return undefined;
    const failed = found.kind === 'gone' ? Math.min(failures + 1, 1000) : 0;
    const days = failed > 0 ? Math.min(2 ** (failed - 1), longestBackOffDays) : config.checkDays;
    // Adds up to a tenth, so that the checks of one import spread.
    const checkAt = new Date(now.getTime() + days * dayMs * (1 + Math.random() / 10));
    return { id, url, checkedAt: now, status: found.status, failures: failed, dead: failed >= config.deadAfter, checkAt };
  }

  const sendEvents = (at: Date) => (inTransaction: Database, dead: readonly DeadBookmark[]) =>
    outbox.add(
      inTransaction,
      dead.map(({ id, title, url, status }) => ({
        type: 'bookmark.dead',
        object: id,
        data: { id, title, url, status, text: status === null ? 'The page no longer answers.' : `The page answers ${status}.` },
        at,
      })),
    );

  /** @returns whether more checks may be due */
  async function checkSome(): Promise<boolean> {
    const due = await store.due(clock(), bookmarksAtOnce);
    if (due.length === 0) return false;
    const visited = await visitAll(due);
    const now = clock();
    if (isOutage(visited)) {
      log.warn({ pages: visited.length }, 'no page answered, checks postponed by an hour: the network of this worker may be down');
      await store.postpone(
        due.map(({ id }) => id),
        new Date(now.getTime() + hourMs),
      );
      return false;
    }
    for (const { check: found } of visited) counter.inc({ outcome: found.kind });
    const results = visited.flatMap((one) => resultOf(one, now) ?? []);
    const dead = results.length > 0 ? await store.record(results, sendEvents(now)) : 0;
    await postponeBusy(due, visited, now);
    log.info({ checked: results.length, dead }, 'pages of bookmarks checked');
    return !stopping.aborted && due.length === bookmarksAtOnce;
  }

  /** Postpones the bookmarks of a busy host that have no result: the one that was asked for, and those that were skipped. */
  async function postponeBusy(due: readonly DueBookmark[], visited: readonly Visited[], now: Date): Promise<void> {
    const done = new Set(visited.filter(({ check: { kind } }) => kind !== 'busy').map(({ bookmark: { id } }) => id));
    for (const { bookmark, check: found } of visited) {
      if (found.kind !== 'busy') continue;
      const host = new URL(bookmark.url).host;
      const ids = due.filter(({ id, url }) => !done.has(id) && URL.parse(url)?.host === host).map(({ id }) => id);
      await store.postpone(ids, new Date(now.getTime() + found.afterMs));
    }
  }

  return {
    /** Checks all that is due. */
    async run(): Promise<void> {
      let isMoreDue = true;
      while (isMoreDue && !stopping.aborted) isMoreDue = await checkSome();
    },
  };
}

function isOutage(visited: readonly Visited[]): boolean {
  const hosts = new Set(visited.map(({ bookmark }) => URL.parse(bookmark.url)?.host));
  return hosts.size >= outageHosts && visited.every(({ check }) => check.kind === 'gone' && check.status === null);
}
