// A queue of keys that are due: each once, one worker a key, namespaces in turn, growing pauses after failures, a limit of starts a second.
import { backOffMs, type BackOffRange } from '../platform/time.ts';

export type QueueOptions = {
  /** @returns the time after which the key is due again; Infinity for never */
  readonly work: (key: string) => Promise<number>;
  readonly onFailure: (key: string, error: unknown) => void;
  readonly concurrency?: number;
  readonly startsPerSecond?: number;
  readonly backOff?: BackOffRange;
};

export type Queue = ReturnType<typeof createQueue>;

const namespaceOf = (key: string) => key.split('/', 1)[0] ?? '';

/** The longest timer of Node. */
const longestTimerMs = 2 ** 31 - 1;

export function createQueue({ work, onFailure, concurrency = 8, startsPerSecond = 100, backOff = { firstMs: 1000, longestMs: 15_000 } }: QueueOptions) {
  /** By namespace; the one whose turn is next comes first, so that thousands of keys of one hold up the others for one key. */
  const due = new Map<string, Set<string>>();
  const active = new Set<string>();
  const timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const failures = new Map<string, number>();
  let isClosed = false;
  const pace = createPace(startsPerSecond, start);
  let idle = Promise.withResolvers<void>();
  idle.resolve();

  function add(key: string): void {
    if (isClosed) return;
    const namespace = namespaceOf(key);
    due.set(namespace, (due.get(namespace) ?? new Set()).add(key));
    start();
  }

  function addAfter(key: string, ms: number): void {
    if (isClosed || ms === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.max(0, ms);
    const at = performance.now() + waitMs;
    const before = timers.get(key);
    if (before && before.at <= at) return;
    clearTimeout(before?.timer);
    const fire = () => {
      timers.delete(key);
      add(key);
    };
    timers.set(key, { at, timer: setTimeout(fire, Math.min(waitMs, longestTimerMs)) });
  }

  /** Starts as many keys as the limits allow. */
  function start(): void {
    while (!isClosed && active.size < concurrency) {
      const next = findNext();
      if (!next || !pace.mayStart()) return;
      const { namespace, key, keys } = next;
      keys.delete(key);
      due.delete(namespace);
      if (keys.size > 0) due.set(namespace, keys);
      void run(key);
    }
  }

  function findNext() {
    for (const [namespace, keys] of due) for (const key of keys) if (!active.has(key)) return { namespace, key, keys };
    return undefined;
  }

  async function run(key: string): Promise<void> {
    if (active.size === 0) idle = Promise.withResolvers<void>();
    active.add(key);
    clearTimeout(timers.get(key)?.timer);
    timers.delete(key);
    try {
      const againAfterMs = await work(key);
      failures.delete(key);
      addAfter(key, againAfterMs);
    } catch (error) {
      const count = (failures.get(key) ?? 0) + 1;
      failures.set(key, count);
      onFailure(key, error);
      addAfter(key, backOffMs(Math.min(count, 30), backOff));
    }
    active.delete(key);
    if (active.size === 0) idle.resolve();
    start();
  }

  return {
    /** Makes the key due at once, or after the work on it that is under way. */
    add,
    /** Keys that wait for a worker. */
    get depth() {
      return [...due.values()].reduce((sum, keys) => sum + keys.size, 0);
    },
    /** Starts nothing more. Resolves when all work has ended. */
    close(): Promise<void> {
      isClosed = true;
      due.clear();
      for (const { timer } of timers.values()) clearTimeout(timer);
      timers.clear();
      pace.close();
      return idle.promise;
    },
  };
}

/** Limits the starts a second; `onFree` is called after a refusal, when a start is possible again. */
function createPace(startsPerSecond: number, onFree: () => void) {
  let starts = { count: 0, since: Number.NEGATIVE_INFINITY };
  let pause: NodeJS.Timeout | undefined;
  return {
    mayStart(): boolean {
      const now = performance.now();
      if (now - starts.since >= 1000) starts = { count: 0, since: now };
      starts.count += 1;
      if (starts.count <= startsPerSecond) return true;
      pause ??= setTimeout(
        () => {
          pause = undefined;
          onFree();
        },
        starts.since + 1000 - now,
      );
      return false;
    },
    close: () => clearTimeout(pause),
  };
}
