// Checks of pages: one request at a time to each host, HEAD and then GET, and what an answer means.
import { setTimeout as pause } from 'node:timers/promises';
import { PrivateAddress, type PublicAnswer, type PublicFetch } from '../../platform/http/public-fetch.ts';
import { dayMs, hourMs } from '../../platform/time.ts';

/**
 * - alive: the page is there, or only its readers are refused.
 * - gone: it is not, or its server is not.
 * - busy: the server asks to come back later.
 * - unknown: nothing can be said, as its address is not public.
 */
export type Check = { readonly kind: 'alive' | 'gone' | 'unknown'; readonly status: number | null } | { readonly kind: 'busy'; readonly afterMs: number };

const timeoutMs = 15_000;
/** A GET is asked for its status only. */
const maxBytes = 1;

/** Servers that take no HEAD answer it with these, and pages that are gone are asked for once more as a browser would. */
const needsGet = (status: number) => status >= 400 && status !== 429 && status !== 503;

export function createCheck(fetchPublic: PublicFetch, signal: AbortSignal) {
  const ask = (url: URL, method: 'GET' | 'HEAD') => fetchPublic(url, { method, signal, timeoutMs, maxBytes });
  /** @throws Error when `signal` was aborted */
  return async (address: string): Promise<Check> => {
    const url = new URL(address);
    try {
      const head = await ask(url, 'HEAD').catch(rethrowPrivate);
      return checkOf(head && !needsGet(head.status) ? head : await ask(url, 'GET'));
    } catch (error) {
      signal.throwIfAborted();
      return { kind: error instanceof PrivateAddress ? 'unknown' : 'gone', status: null };
    }
  };
}

/** Some servers cut the connection at a HEAD. */
function rethrowPrivate(error: unknown): undefined {
  if (error instanceof PrivateAddress) throw error;
  return undefined;
}

function checkOf({ status, retryAfter }: PublicAnswer): Check {
  if (status === 429 || status === 503) return { kind: 'busy', afterMs: afterOf(retryAfter) };
  return { kind: status === 404 || status === 410 || status >= 500 ? 'gone' : 'alive', status };
}

/** RFC 9110 section 10.2.3: seconds or a date. Between an hour and a day. */
function afterOf(retryAfter: string): number {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Math.min(Math.max(Number.isNaN(ms) ? 0 : ms, hourMs), dayMs);
}

type Rounds<One> = {
  readonly hostsAtOnce: number;
  /** Between two requests to one host. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
  /** @returns false to leave the rest of the host */
  readonly visit: (one: One) => Promise<boolean>;
};

/** Visits all, those of one host one after the other. Ends early when the signal is aborted. */
export async function visitByHost<One extends { readonly url: string }>(
  all: readonly One[],
  { hostsAtOnce, pauseMs, signal, visit }: Rounds<One>,
): Promise<void> {
  const hosts = [...Map.groupBy(all, ({ url }) => URL.parse(url)?.host ?? '').values()];
  async function visitHosts(): Promise<void> {
    for (let host = hosts.shift(); host && !signal.aborted; host = hosts.shift())
      for (const [index, one] of host.entries()) {
        if (index > 0) await pause(pauseMs, undefined, { signal }).catch(() => undefined); // rejects for the signal only
        if (signal.aborted || !(await visit(one))) break;
      }
  }
  await Promise.all(Array.from({ length: hostsAtOnce }, visitHosts));
}
