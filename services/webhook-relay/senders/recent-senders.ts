// The senders that this replica has seen in the last ten minutes, each with its window of counts.
import { bucketOf, createWindow, type Counts, type Window, windowMs } from './window.ts';

export type RecentSenders = {
  add(login: string, at: Date): void;
  total(login: string, bucket: number): number;
  replace(login: string, counts: Counts): void;
  /** Whose counts are worth asking for: seen within a minute, the newest 250 of them. Forgets senders idle for ten minutes. */
  lately(now: Date): string[];
};

type Seen = { readonly window: Window; lastAt: number };

const latelyMs = 60_000;
// So many cost some 20 ms a turn, most of it in the database; in a flood of more senders a busy one is among the newest.
const maxLately = 250;

export function createRecentSenders(maxSenders: number): RecentSenders {
  // In the order in which they were last seen.
  const senders = new Map<string, Seen>();

  function touch(login: string, at: number): Window {
    const seen = senders.get(login) ?? { window: createWindow(), lastAt: at };
    seen.lastAt = Math.max(seen.lastAt, at);
    senders.delete(login);
    senders.set(login, seen);
    const [oldest] = senders.keys();
    if (senders.size > maxSenders && oldest !== undefined) senders.delete(oldest);
    return seen.window;
  }

  return {
    add: (login, at) => touch(login, at.getTime()).add(bucketOf(at), 1),
    total: (login, bucket) => senders.get(login)?.window.total(bucket) ?? 0,
    replace: (login, counts) => senders.get(login)?.window.replace(counts),
    lately(now) {
      const lately: string[] = [];
      for (const [login, { lastAt }] of senders) {
        if (lastAt < now.getTime() - windowMs) senders.delete(login);
        else if (lastAt >= now.getTime() - latelyMs) lately.push(login);
      }
      return lately.slice(-maxLately);
    },
  };
}
