// All SQL of rejected deliveries.
import { type Columns, type Database, statement, toColumns } from '../../platform/postgres/pool.ts';

export type RejectedRow = {
  readonly id: string;
  readonly receivedAt: Date;
  readonly event: string;
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of it. */
  readonly payload: Buffer;
  readonly payloadBytes: number;
};

const columns = ['id', 'receivedAt', 'event', 'deliveryId', 'hookId', 'targetId', 'headers', 'payload', 'payloadBytes'] as const;

// A batch whose outcome was not known comes again.
const insert = statement<unknown, Columns<RejectedRow, typeof columns>>(
  'rejected.insert',
  `
  insert into rejected_deliveries (id, received_at, event, delivery_id, hook_id, target_id, headers, payload, payload_bytes)
  select id, received_at, event, delivery_id, hook_id, target_id, headers, payload, payload_bytes
  from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::bytea[], $9::bigint[])
    as rejected (id, received_at, event, delivery_id, hook_id, target_id, headers, payload, payload_bytes)
  on conflict (id) do nothing`,
);

// The newest of those to go is found by its place in the index, without reading a payload.
const keepNewest = statement<unknown, [rows: number]>(
  'rejected.keepNewest',
  `
  delete from rejected_deliveries where (received_at, id) <= (
    select received_at, id from rejected_deliveries order by received_at desc, id desc offset $1 limit 1)`,
);

const deleteBefore = statement<unknown, [limit: Date]>(
  'rejected.deleteBefore',
  `
  delete from rejected_deliveries where received_at < $1`,
);

export type RejectedStore = ReturnType<typeof createRejectedStore>;

export const createRejectedStore = (database: Database) => ({
  /** Adds rows and keeps the newest `maxRows` of all, in one transaction. */
  add: (rows: readonly RejectedRow[], maxRows: number): Promise<void> =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(insert, ...toColumns(rows, columns));
      await inTransaction.run(keepNewest, maxRows);
    }),
  /** @returns how many older ones were deleted */
  keepNewest: (rows: number) => database.run(keepNewest, rows),
  deleteBefore: (limit: Date) => database.run(deleteBefore, limit),
});
