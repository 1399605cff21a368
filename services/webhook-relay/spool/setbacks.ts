// What could not be done for a reason that may pass: it is left alone for longer and longer, and each reason is told once.
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';

export type Setbacks = {
  /** False while it is left alone. */
  isDue(id: string): boolean;
  /** @returns for how many milliseconds to leave it alone */
  failed(id: string, error: unknown): number;
  /** It went well: a later failure is news again. */
  over(id: string): void;
  /** Logs what has newly failed, or fails for another reason than before: a line a reason, however many have it. */
  tell(): void;
};

type Setback = { readonly reason: string; readonly pauseMs: number; readonly until: number };
type News = { readonly error: unknown; readonly ids: string[] };

const firstPauseMs = 1000;
const longestPauseMs = 60_000;
/** So many are named in a line. */
const mostNamed = 20;

/** @param now milliseconds of any steady clock */
export function createSetbacks(log: Log, now: () => number = () => performance.now()): Setbacks {
  const known = new Map<string, Setback>();
  const news = new Map<string, News>();

  // What was not tried again long after its pause has gone another way: a person or another process took it.
  function forgetGone(): void {
    for (const [id, { until }] of known) if (now() - until > longestPauseMs) known.delete(id);
  }

  return {
    isDue: (id) => (known.get(id)?.until ?? 0) <= now(),
    failed(id, error) {
      const before = known.get(id);
      const reason = reasonOf(error);
      const pauseMs = before ? Math.min(before.pauseMs * 2, longestPauseMs) : firstPauseMs;
      known.set(id, { reason, pauseMs, until: now() + pauseMs });
      if (before?.reason === reason) return pauseMs;
      const told = news.get(reason);
      if (told) told.ids.push(id);
      else news.set(reason, { error, ids: [id] });
      return pauseMs;
    },
    over: (id) => void known.delete(id),
    tell() {
      for (const [reason, { error, ids }] of news) {
        log.warn(
          { reason, count: ids.length, ids: ids.slice(0, mostNamed), error },
          'what is spooled could not be worked on, it is tried again at growing intervals',
        );
      }
      news.clear();
      forgetGone();
    },
  };
}

/** Without what differs from file to file, as the path in the message does. */
const reasonOf = (error: unknown): string => (error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : describeError(error));
