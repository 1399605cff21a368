// The forge-database queue's worker: deliveries become the newest state of what they are about. A batch is one transaction.
import picomatch from 'picomatch';
import type { BatchHandler, Delivery } from '../../platform/broker/broker.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { type BatchWorkerParts, createBatchWorker } from './batch-worker.ts';
import { type DeliveryKey, readEnvelope, readPayload, repositoryOf } from '../delivery.ts';
import { createTableWriter } from '../typed/store.ts';
import { allTables } from '../typed/tables.ts';
import type { ForgeEvent } from '../typed/typed-table.ts';

type IsOwn = (event: Pick<ForgeEvent, 'repository'>) => boolean;

type DatabaseServiceWorkerParts = BatchWorkerParts & { readonly database: Database; readonly isOwn: IsOwn };

export function createDatabaseServiceWorker({ database, isOwn, ...parts }: DatabaseServiceWorkerParts): BatchHandler {
  const writers = allTables.map(createTableWriter);
  const leftOut = parts.metrics.counter({
    name: 'signalbox_intake_objects_left_out_total',
    help: 'Objects of deliveries that lack a member which their row needs, by table; the rest of the delivery is stored',
    labels: ['table'],
    series: allTables.map(({ name }) => ({ table: name })),
  });

  /** All or none. @returns for each event whether its delivery was not known yet */
  async function store(events: readonly ForgeEvent[]): Promise<readonly boolean[]> {
    const leftOutOf = new Map<string, number>();
    const stored = await database.transaction(async (inTransaction) => {
      const isNew = await trackNew(inTransaction, events);
      const fresh = events.filter((_, index) => isNew[index]);
      const own = fresh.filter(isOwn);
      for (const { table, write } of writers) {
        const changes = (table.isTracking ? fresh : own).flatMap((event) => table.changes(event).map((change) => ({ event, change })));
        leftOutOf.set(table.name, await write(inTransaction, changes));
      }
      return isNew;
    });
    for (const [table, count] of leftOutOf) leftOut.inc({ table }, count);
    return stored;
  }

  return createBatchWorker({ worker: 'database-service', queue: 'forge-database', read: readForgeEvent, store }, parts);
}

async function readForgeEvent(delivery: Delivery, maxValues: number): Promise<ForgeEvent> {
  const { value } = await readPayload(delivery, maxValues);
  return { ...readEnvelope(delivery), repository: repositoryOf(value), payload: value };
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

const track = statement<DeliveryKey, [keys: string]>(
  'intake.trackDeliveries',
  `
  insert into tracked_deliveries (delivery_id, hook_id, target_id, tracked_at)
  select "deliveryId", "hookId", "targetId", now() from json_to_recordset($1::json) as key("deliveryId" text, "hookId" text, "targetId" text)
  order by "deliveryId", "hookId", "targetId"
  on conflict do nothing
  returning delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId"`,
);

async function trackNew(database: Database, events: readonly ForgeEvent[]): Promise<boolean[]> {
  const toKey = ({ deliveryId, hookId, targetId }: DeliveryKey) => JSON.stringify([deliveryId, hookId, targetId]);
  const keys = events.map(({ deliveryId, hookId, targetId }) => ({ deliveryId, hookId, targetId }));
  const insertedKeys = new Set((await database.all(track, JSON.stringify(keys))).map(toKey));
  // Deleting on the way through leaves a copy within the batch without its key.
  return keys.map((key) => insertedKeys.delete(toKey(key)));
}
