// All SQL of rejected deliveries.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';

export type RejectedRow = {
  readonly id: string;
  readonly receivedAt: Date;
  readonly event: string;
  readonly deliveryId: string;
  readonly hookId: string;
  readonly targetId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its beginning. */
  readonly payload: Buffer;
  readonly payloadBytes: number;
};

// A batch whose outcome was not known comes again.
const insert = insertRows<RejectedRow>('rejected.insert', {
  into: 'rejected_deliveries',
  columns: {
    id: 'uuid',
    receivedAt: 'timestamptz',
    event: 'text',
    deliveryId: 'text',
    hookId: 'text',
    targetId: 'text',
    headers: 'jsonb',
    payload: 'bytea',
    payloadBytes: 'bigint',
  },
  onConflict: '(id) do nothing',
});

// The newest row to delete is found by its place in the index, without reading a payload.
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
      await inTransaction.run(insert, rows);
      await inTransaction.run(keepNewest, maxRows);
    }),
  /** @returns how many older ones were deleted */
  keepNewest: (rows: number) => database.run(keepNewest, rows),
  deleteBefore: (limit: Date) => database.run(deleteBefore, limit),
});
