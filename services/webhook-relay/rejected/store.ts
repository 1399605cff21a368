// All SQL of deliveries that were answered with a refusal.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';

export type RejectedRow = {
  readonly id: string;
  readonly receivedAt: Date;
  /** The status of the answer. */
  readonly status: number;
  readonly reason: string;
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
    status: 'int',
    reason: 'text',
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

const listed = `id, received_at as "receivedAt", status, reason, event, delivery_id as "deliveryId", hook_id as "hookId", target_id as "targetId",
  payload_bytes as "payloadBytes"`;
type ListedRow = Omit<RejectedRow, 'headers' | 'payload'>;

export type RejectedFilter = {
  readonly status?: number | undefined;
  readonly event?: string | undefined;
  readonly deliveryId?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  /** The last row of the page before. */
  readonly after?: Pick<RejectedRow, 'receivedAt' | 'id'> | undefined;
  readonly limit: number;
};

type FilterValues = [
  status: number | null,
  event: string | null,
  deliveryId: string | null,
  from: Date | null,
  to: Date | null,
  afterTime: Date | null,
  afterId: string | null,
  limit: number,
];
const list = statement<ListedRow, FilterValues>(
  'rejected.list',
  `
  select ${listed} from rejected_deliveries
  where ($1::int is null or status = $1) and ($2::text is null or event = $2) and ($3::text is null or delivery_id = $3)
    and ($4::timestamptz is null or received_at >= $4) and ($5::timestamptz is null or received_at < $5)
    and ($6::timestamptz is null or (received_at, id) < ($6, $7::uuid))
  order by received_at desc, id desc limit $8`,
);
/** Ends the reason of a delivery that was neither published nor spooled: only the forge has it. */
export const notKept = 'It could not be kept either.';
const countLost = statement<{ count: number }, [from: Date, ending: string]>(
  'rejected.countLost',
  'select count(*) as count from rejected_deliveries where received_at >= $1 and status = 400 and right(reason, length($2)) = $2',
);
const countAll = statement<{ count: number }>('rejected.count', 'select count(*) as count from rejected_deliveries');
const one = statement<RejectedRow, [id: string]>('rejected.one', `select ${listed}, headers, payload from rejected_deliveries where id = $1::uuid`);

export type RejectedStore = ReturnType<typeof createRejectedStore>;

export const createRejectedStore = (database: Database) => ({
  /** Adds rows and keeps the newest `maxRows` of all, in one transaction. */
  add: (rows: readonly RejectedRow[], maxRows: number): Promise<void> =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(insert, rows);
      await inTransaction.run(keepNewest, maxRows);
    }),
  /** The newest first. */
  list: ({ status, event, deliveryId, from, to, after, limit }: RejectedFilter) =>
    database.all(list, status ?? null, event ?? null, deliveryId ?? null, from ?? null, to ?? null, after?.receivedAt ?? null, after?.id ?? null, limit),
  count: async () => (await database.first(countAll))?.count ?? 0,
  /** Neither published nor spooled, from this time on. */
  countLost: async (from: Date) => (await database.first(countLost, from, notKept))?.count ?? 0,
  find: (id: string) => database.first(one, id),
  /** @returns how many older ones were deleted */
  keepNewest: (rows: number) => database.run(keepNewest, rows),
  deleteBefore: (limit: Date) => database.run(deleteBefore, limit),
});
