// All writing of the database worker: a batch is one transaction.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { DeliveryKey } from '../envelope.ts';
import type { ForgeEvent } from './forge-event.ts';
import { type EventChange, firstMentions, rounds, toRows } from './rows.ts';
import { type TableSql, tableSql } from './table-sql.ts';
import { typedTables } from './tables.ts';
import type { ChangeKind, TypedTable } from './typed-table.ts';

const track = statement<{ deliveryId: string; hookId: string; targetId: string }, [keys: string]>(
  'intake.trackDeliveries',
  `
  insert into tracked_deliveries (delivery_id, hook_id, target_id, tracked_at)
  select "deliveryId", "hookId", "targetId", now() from json_to_recordset($1::json) as key("deliveryId" text, "hookId" text, "targetId" text)
  order by "deliveryId", "hookId", "targetId"
  on conflict do nothing
  returning delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId"`,
);

const tables: readonly { readonly table: TypedTable; readonly sql: TableSql }[] = typedTables.map((table) => ({ table, sql: tableSql(table) }));

export type TypedStore = ReturnType<typeof createTypedStore>;

export function createTypedStore(database: Database, isOwn: (event: ForgeEvent) => boolean) {
  return {
    /** All or none. @returns for each event whether its delivery was not known yet */
    storeBatch: (events: readonly ForgeEvent[]): Promise<readonly boolean[]> =>
      database.transaction(async (inTransaction) => {
        const isNew = await trackNew(inTransaction, events);
        const fresh = events.filter((_, index) => isNew[index]);
        const own = new Set(fresh.filter(isOwn));
        for (const { table, sql } of tables) {
          const subjects = table.isTracking ? fresh : fresh.filter((event) => own.has(event));
          const changes = subjects.flatMap((event) => table.changes(event).map((change) => ({ event, change })));
          await write(inTransaction, { table, sql, changes });
        }
        return isNew;
      }),
  };
}

async function trackNew(database: Database, events: readonly ForgeEvent[]): Promise<boolean[]> {
  const toKey = ({ deliveryId, hookId, targetId }: DeliveryKey) => JSON.stringify([deliveryId, hookId, targetId]);
  const keys = events.map(({ deliveryId, hookId, targetId }) => ({ deliveryId, hookId, targetId }));
  const unused = new Set((await database.all(track, JSON.stringify(keys))).map(toKey));
  // Deleting on the way through leaves a copy within the batch without its key.
  return keys.map((key) => unused.delete(toKey(key)));
}

async function write(database: Database, { table, sql, changes }: { table: TypedTable; sql: TableSql; changes: readonly EventChange[] }): Promise<void> {
  const of = (kind: ChangeKind) => changes.filter(({ change }) => change.kind === kind);
  const unknown = firstMentions(of('unknown'));
  if (unknown.length > 0) await database.all(sql.insertUnknown, toRows(table, unknown));
  for (const round of rounds(of('newest'))) await database.all(sql.upsertNewest, toRows(table, round));
  for (const round of rounds(of('requested'))) await database.all(sql.requestAgain, toRows(table, round));
}
