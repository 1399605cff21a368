// The values that were read last: served without a request while they are fresh, and for a bounded time while the service is unavailable.
import { pauseMs, RequestFailed } from './request.ts';
import type { Entries, ValuesFile } from './values-file.ts';

export type LastKnownOptions = {
  readonly ttlMs: number;
  readonly staleMs: number;
  /** Keeps the values over restarts. */
  readonly file: ValuesFile | undefined;
};

/** With a stale value in its place, a read tries only once. */
type Load<T> = (attempts: 'all' | 'one') => Promise<T>;

export function createLastKnown({ ttlMs, staleMs, file }: LastKnownOptions) {
  let opened: Promise<Entries> | undefined;
  const loading = new Map<string, Promise<unknown>>();
  /** While the service is unavailable, no stale value waits for it before this time. */
  let triesAgainAt = 0;
  let failures = 0;

  function entryOf(entries: Entries, name: string) {
    const entry = entries.get(name);
    if (entry === undefined) return undefined;
    const age = Date.now() - entry.readAt;
    // A clock that was set back makes no value fresh for longer.
    const isWithin = (ms: number) => age >= 0 && age < ms;
    return isWithin(ttlMs + staleMs) ? { value: entry.value, isFresh: isWithin(ttlMs) } : undefined;
  }

  async function refresh(entries: Entries, name: string, load: Load<unknown>): Promise<unknown> {
    const known = entryOf(entries, name);
    try {
      const value = await load(known ? 'one' : 'all');
      entries.set(name, { value, readAt: Date.now() });
      failures = 0;
      await file?.save(entries);
      return value;
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      if (known && (error.isTransient || !error.isOfService)) {
        triesAgainAt = Date.now() + pauseMs(++failures, error);
        return known.value;
      }
      await forget(entries, name, error);
      throw error;
    }
  }

  /** A value that the service refuses is not served from here either; a key that it refuses ends all values. */
  async function forget(entries: Entries, name: string, { status = 0, isOfService }: RequestFailed): Promise<void> {
    if (!isOfService || ![401, 403, 404].includes(status)) return;
    if (status === 404) entries.delete(name);
    else entries.clear();
    await file?.save(entries);
  }

  /** Reads of one name at the same time share a request. */
  async function read(name: string, load: Load<unknown>): Promise<unknown> {
    opened ??= file?.load() ?? Promise.resolve(new Map());
    const entries = await opened;
    const known = entryOf(entries, name);
    if (known && (known.isFresh || Date.now() < triesAgainAt)) return known.value;
    const running = loading.get(name) ?? refresh(entries, name, load).finally(() => loading.delete(name));
    loading.set(name, running);
    return running;
  }

  return { read: <T>(name: string, load: Load<T>) => read(name, load) as Promise<T> };
}
