// All SQL of senders: their activity over all time, and in the last minutes.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { insertRows } from '../../platform/postgres/rows.ts';

/** Events by the start of their bucket of half a minute. */
export type Buckets = Map<number, number>;

/** The activity of a sender since it was written last. */
export type Activity = {
  readonly login: string;
  readonly isBot: boolean;
  readonly eventCount: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly buckets: Buckets;
};

// Rows are written in the order of their key: replicas that write the same senders wait for each other instead of deadlocking.
const addActivity = insertRows<Activity>('senders.addActivity', {
  into: 'senders',
  columns: { login: 'text', isBot: 'boolean', eventCount: 'bigint', firstAt: 'timestamptz', lastAt: 'timestamptz', buckets: 'omitted' },
  orderBy: 'login',
  onConflict: `(login) do update set
    is_bot = excluded.is_bot,
    event_count = senders.event_count + excluded.event_count,
    first_at = least(senders.first_at, excluded.first_at),
    last_at = greatest(senders.last_at, excluded.last_at)`,
});

export type BucketRow = { readonly login: string; readonly start: Date; readonly count: number };

const addToBuckets = insertRows<BucketRow>('senders.addToBuckets', {
  into: 'sender_buckets',
  columns: { login: 'text', start: 'bucket_start timestamptz', count: 'event_count int' },
  orderBy: 'login, bucket_start',
  onConflict: '(login, bucket_start) do update set event_count = sender_buckets.event_count + excluded.event_count',
});

// Buckets of a replica whose clock is ahead wait until it is their time.
const countsOf = statement<BucketRow, [logins: string[], from: Date, to: Date]>(
  'senders.countsOf',
  `
  select login, bucket_start as start, event_count as count from sender_buckets
  where login = any($1::text[]) and bucket_start between $2 and $3`,
);

export type SenderRow = {
  readonly login: string;
  readonly isBot: boolean;
  readonly eventCount: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly recentCount: number;
};

const latest = statement<SenderRow, [from: Date, to: Date, limit: number]>(
  'senders.latest',
  `
  select s.login, s.is_bot as "isBot", s.event_count as "eventCount", s.first_at as "firstAt", s.last_at as "lastAt",
    coalesce((select sum(b.event_count) from sender_buckets b where b.login = s.login and b.bucket_start between $1 and $2), 0) as "recentCount"
  from (select * from senders order by last_at desc, login limit $3) s
  order by s.login collate "C"`,
);

const deleteBuckets = statement<unknown, [limit: Date]>('senders.deleteBuckets', 'delete from sender_buckets where bucket_start < $1');

const deleteUnseen = statement<unknown, [limit: Date]>('senders.deleteUnseen', 'delete from senders where last_at < $1');

export type SenderStore = ReturnType<typeof createSenderStore>;

export const createSenderStore = (database: Database) => ({
  /** All of it or nothing. */
  add: (activities: readonly Activity[]): Promise<void> =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(addActivity, activities);
      const increments = activities.flatMap(({ login, buckets }) => [...buckets].map(([start, count]) => ({ login, start: new Date(start), count })));
      await inTransaction.run(addToBuckets, increments);
    }),

  /** Counts of all replicas; a sender without events in that time is not in them. */
  countsOf: (logins: readonly string[], from: Date, to: Date) => database.all(countsOf, [...logins], from, to),
  /** The `limit` senders that were active last, by login; recentCount is over `from` to `to`. */
  latest: (from: Date, to: Date, limit: number) => database.all(latest, from, to, limit),
  /** @returns how many were deleted */
  deleteBucketsBefore: (limit: Date) => database.run(deleteBuckets, limit),
  /** Senders whose last delivery came before `limit`. @returns how many were deleted */
  deleteUnseenSince: (limit: Date) => database.run(deleteUnseen, limit),
});
