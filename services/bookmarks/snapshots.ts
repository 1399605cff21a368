// Long texts that are written from one snapshot of the catalogue, with the revision that it has.
import type { Readable } from 'node:stream';
import type { Database } from '../platform/postgres/pool.ts';
import { createSnapshots, type SnapshotLimits } from '../platform/postgres/snapshots.ts';
import { type Snapshot, snapshotOn } from './lists/store.ts';

export type OpenSnapshot = ReturnType<typeof createCatalogueSnapshots>;

export function createCatalogueSnapshots(database: Database, limits: SnapshotLimits) {
  const open = createSnapshots(database, limits);
  /** @throws Problem 503 */
  return async (write: (snapshot: Snapshot) => AsyncIterable<string>): Promise<{ readonly revision: string; readonly text: Readable }> => {
    const { head, text } = await open(async (frozen) => {
      const snapshot = snapshotOn(frozen);
      return { head: await snapshot.revision(), pieces: write(snapshot) };
    });
    return { revision: head, text };
  };
}
