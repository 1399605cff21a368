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

const listed =
  'id, received_at as "receivedAt", event, delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId", payload_bytes as "payloadBytes"';
type ListedRow = Omit<RejectedRow, 'headers' | 'payload'>;

const newest = statement<ListedRow, [limit: number]>(
  'rejected.newest',
  `select ${listed} from rejected_deliveries order by received_at desc, id desc limit $1`,
);
const olderThan = statement<ListedRow, [receivedAt: Date, id: string, limit: number]>(
  'rejected.olderThan',
  `
  select ${listed} from rejected_deliveries where (received_at, id) < ($1, $2::uuid)
  order by received_at desc, id desc limit $3`,
);
const one = statement<RejectedRow, [id: string]>('rejected.one', `select ${listed}, headers, payload from rejected_deliveries where id = $1::uuid`);

export type RejectedStore = ReturnType<typeof createRejectedStore>;

export const createRejectedStore = (database: Database) => ({
  /** Adds rows and keeps the newest `maxRows` of all, in one transaction. */
  add: (rows: readonly RejectedRow[], maxRows: number): Promise<void> =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(insert, rows);
      await inTransaction.run(keepNewest, maxRows);
    }),
  /** The newest first. @param after the last row of the page before */
  list: (limit: number, after?: Pick<RejectedRow, 'receivedAt' | 'id'>) =>
    after ? database.all(olderThan, after.receivedAt, after.id, limit) : database.all(newest, limit),
  find: (id: string) => database.first(one, id),
  /** @returns how many older ones were deleted */
  keepNewest: (rows: number) => database.run(keepNewest, rows),
  deleteBefore: (limit: Date) => database.run(deleteBefore, limit),
});
