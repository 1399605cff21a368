// Long texts that are written from one snapshot of the catalogue while they are sent. Each holds a connection for as long as its reader takes.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Common } from '../platform/problem.ts';
import { createSemaphore } from '../platform/semaphore.ts';
import type { ListStore, Snapshot } from './lists/store.ts';

export type SnapshotLimits = {
  /** Below the connections of the pool, so that slow readers leave some to all other requests. */
  readonly atOnce: number;
  /** For one of these; later it is 503. */
  readonly waitMs: number;
  /** A reader that is slower is cut. One that takes nothing at all is cut by the server before. */
  readonly longestMs: number;
};

export type OpenSnapshot = ReturnType<typeof createSnapshots>;

export function createSnapshots(store: ListStore, { atOnce, waitMs, longestMs }: SnapshotLimits) {
  const readers = createSemaphore(atOnce);
  /** @param write gives the text in pieces; the next one is asked for when the last was sent. @throws Problem 503 */
  return async (write: (snapshot: Snapshot) => AsyncIterable<string>): Promise<{ readonly revision: string; readonly text: Readable }> => {
    if (!(await readers.acquire(1, waitMs))) throw Common.unavailable({ detail: 'Too many long lists are being read.', headers: { 'Retry-After': '5' } });
    const opened = Promise.withResolvers<{ revision: string; text: Readable }>();
    const reading = store.inSnapshot(async (snapshot, revision) => {
      const text = Readable.from(write(snapshot));
      const cut = setTimeout(() => text.destroy(new Error(`not read within ${longestMs} ms`)), longestMs);
      opened.resolve({ revision, text });
      // It ends too when its reader goes away; what fails it is told by the answer.
      await finished(text).finally(() => clearTimeout(cut));
    });
    void reading.catch(opened.reject).finally(() => readers.release(1));
    return opened.promise;
  };
}
