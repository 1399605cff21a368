// How often each secret was read in an environment on a day: added up in memory, and written every two seconds, off the path of the reads.
import { createBatchWriter } from '../../platform/batches.ts';
import type { Log } from '../../platform/log.ts';

export type CountedReads = {
  readonly secretId: string;
  readonly environmentId: string;
  /** A day of UTC: `2026-03-15`. */
  readonly day: string;
  readonly reads: number;
};
type Open = CountedReads & { reads: number };

/** More than an installation reads in two seconds; beyond it reads are not counted. A crash loses the counts of the last two seconds. */
const limits = { maxWaiting: 100_000, batchSize: 1000, pauseMs: 2000, closeMs: 2000 };

export type ReadCountsParts = {
  readonly log: Log;
  /** Adds the counts to those that are stored. */
  readonly write: (counts: readonly CountedReads[]) => Promise<unknown>;
};

export function createReadCounts({ log, write }: ReadCountsParts) {
  const open = new Map<string, Open>();
  const writer = createBatchWriter<Open>({
    write(counts) {
      // Reads that come while these are written are counted anew.
      for (const count of counts) if (open.get(keyOf(count)) === count) open.delete(keyOf(count));
      return write(counts);
    },
    onFailure: (error) => log.warn({ error }, 'writing the counts of reads failed, retrying'),
    onRefused: (_, error) => log.warn({ error }, 'a count of reads was refused by the database'),
    limits,
  });
  return {
    /** Never waits and never throws. */
    add(secretId: string, environmentId: string, readAt: Date): void {
      const place = { secretId, environmentId, day: readAt.toISOString().slice(0, 10) };
      const known = open.get(keyOf(place));
      if (known) known.reads += 1;
      if (known || !writer.hasRoom) return;
      const count = { ...place, reads: 1 };
      open.set(keyOf(place), count);
      writer.add(count);
    },
    /** Writes what waits. Never rejects. */
    close: async (): Promise<void> => void (await writer.close()),
  };
}

const keyOf = ({ secretId, environmentId, day }: Omit<CountedReads, 'reads'>) => `${secretId} ${environmentId} ${day}`;
