// The forge-database queue's worker: deliveries become the newest state of what they are about. A batch is one transaction.
import picomatch from 'picomatch';
import type { BatchHandler } from '../../platform/broker/broker.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { type DeliveryKey, readDelivery } from '../delivery.ts';
import { writeChanges } from '../typed/store.ts';
import { allTables } from '../typed/tables.ts';
import type { ForgeEvent } from '../typed/typed-table.ts';

export type IsOwn = (event: Pick<ForgeEvent, 'repository'>) => boolean;

type DatabaseServiceWorkerParts = BatchWorkerParts & { readonly database: Database; readonly isOwn: IsOwn };

export function createDatabaseServiceWorker({ database, isOwn, ...parts }: DatabaseServiceWorkerParts): BatchHandler {
  const leftOut = parts.metrics.counter({
    name: 'signalbox_intake_objects_left_out_total',
    help: 'Objects of deliveries that lack a member which their row needs, by table; the rest of the delivery is stored',
    labels: ['table'],
    series: allTables.map(({ name }) => ({ table: name })),
  });

  /** All or none. @returns for each event whether its delivery was not known yet */
  async function store(events: readonly ForgeEvent[]): Promise<readonly boolean[]> {
    const { isNew, counts } = await database.transaction(async (inTransaction) => {
      const isNew = await trackNew(inTransaction, events);
      const fresh = events.filter((_, index) => isNew[index]);
      const counts = await writeEvents(inTransaction, fresh, isOwn);
      return { isNew, counts };
    });
    for (const [table, count] of counts) leftOut.inc({ table }, count);
    return isNew;
  }

  return createBatchWorker({ worker: 'database-service', queue: 'forge-database', read: readDelivery, store }, parts);
}

/** Writes the events to the typed tables, in a transaction of the caller's. @returns how many objects were left out of each table */
export function writeEvents(inTransaction: Database, events: readonly ForgeEvent[], isOwn: IsOwn): Promise<ReadonlyMap<string, number>> {
  const own = events.filter(isOwn);
  return writeChanges(inTransaction, (table) =>
    (table.isTracking ? events : own).flatMap((event) => table.changes(event).map((change) => ({ event, change }))),
  );
}

/** Whether an event is of the application's own repositories; one without a repository is. */
export function createIsOwn(globs: readonly string[]): IsOwn {
  // `*` stops at a slash; alone it is meant as all. Names of the forge know no case, and may begin with a dot.
  const matches = picomatch(
    globs.map((glob) => (glob === '*' ? '*/*' : glob)),
    { nocase: true, dot: true },
  );
  return ({ repository }) => repository === null || matches(repository);
}

const track = insertRows<DeliveryKey, Omit<DeliveryKey, 'digest'>>('intake.trackDeliveries', {
  into: 'tracked_deliveries',
  columns: { deliveryId: 'text', hookId: 'text', targetId: 'text', digest: 'text' },
  expressions: { tracked_at: 'now()' },
  orderBy: 'digest, delivery_id, hook_id, target_id, ordinal',
  onConflict: 'do nothing',
  returning: 'delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId"',
});

async function trackNew(database: Database, events: readonly ForgeEvent[]): Promise<boolean[]> {
  const toKey = ({ deliveryId, hookId, targetId }: Omit<DeliveryKey, 'digest'>) => JSON.stringify([deliveryId, hookId, targetId]);
  const insertedKeys = new Set((await database.all(track, events)).map(toKey));
  // Deleting on the way through leaves a copy within the batch without its key.
  return events.map((event) => insertedKeys.delete(toKey(event)));
}
