// Limits the writes against a second writer: two programs that undo each other's changes at full speed are both busy, and nothing is gained.

/** The first changes of others, such as edits by hand, are undone at once. */
const freeRestorations = 3;
/** Then no more than a write a minute, and a pause that doubles. */
const pauses = { firstMs: 60_000, longestMs: 600_000 };

/** Another writer keeps changing what the operator writes. */
export type Contest = {
  /** Changes that were undone, or are to be. */
  readonly count: number;
  /** The time until the next write. */
  readonly pauseMs: number;
};

type Writing = { readonly wanted: string; readonly at: number; readonly restorations: number };

export type Contention = ReturnType<typeof createContention>;

/** State of one term as leader, by key. */
export function createContention() {
  const writings = new Map<string, Writing>();
  const pauseOf = ({ restorations }: Writing) =>
    restorations < freeRestorations ? 0 : Math.min(pauses.firstMs * 2 ** (restorations - freeRestorations), pauses.longestMs);
  const contestOf = (writing: Writing | undefined, now: Date): Contest | undefined => {
    const pauseMs = writing ? writing.at + pauseOf(writing) - now.getTime() : 0;
    return writing && pauseMs > 0 ? { count: writing.restorations, pauseMs } : undefined;
  };

  return {
    /** The contest about the key; undefined when it may be written. */
    contestOf: (key: string, now: Date): Contest | undefined => contestOf(writings.get(key), now),

    /**
     * Call before a write.
     * @param wanted identifies the content: the same content again is a restoration, since only another writer can have changed it meanwhile
     * @returns the contest that forbids the write
     */
    admit(key: string, wanted: string, now: Date): Contest | undefined {
      const before = writings.get(key);
      const isRestoration = before?.wanted === wanted;
      const contest = isRestoration ? contestOf(before, now) : undefined;
      if (!contest) writings.set(key, { wanted, at: now.getTime(), restorations: isRestoration ? before.restorations + 1 : 0 });
      return contest;
    },

    /** Call when there was nothing to write: a contest ends when the other writer was quiet for as long as the pause. */
    settle(key: string, now: Date): void {
      const writing = writings.get(key);
      if (writing && now.getTime() - writing.at >= Math.max(pauseOf(writing), pauses.firstMs)) writings.set(key, { ...writing, restorations: 0 });
    },

    /** Forgets a key whose object is gone. */
    forget: (key: string): void => void writings.delete(key),
  };
}
