// All SQL of senders: what they did over all time, and in the last minutes.
import { type Database, statement, toColumns } from '../../platform/postgres/pool.ts';

/** Events by the start of their bucket of half a minute. */
export type Buckets = Map<number, number>;

/** What a sender did since it was written last. */
export type Activity = {
  readonly login: string;
  readonly isBot: boolean;
  readonly eventCount: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  readonly buckets: Buckets;
};

// Rows are written in the order of their key: replicas that write the same senders wait for each other instead of deadlocking.
const addActivity = statement<unknown, [logins: string[], bots: boolean[], counts: number[], first: Date[], last: Date[]]>(
  'senders.addActivity',
  `
  insert into senders (login, is_bot, event_count, first_at, last_at)
  select login, is_bot, event_count, first_at, last_at
  from unnest($1::text[], $2::boolean[], $3::bigint[], $4::timestamptz[], $5::timestamptz[]) as activity (login, is_bot, event_count, first_at, last_at)
  order by login
  on conflict (login) do update set
    is_bot = excluded.is_bot,
    event_count = senders.event_count + excluded.event_count,
    first_at = least(senders.first_at, excluded.first_at),
    last_at = greatest(senders.last_at, excluded.last_at)`,
);

const addToBuckets = statement<unknown, [logins: string[], starts: Date[], counts: number[]]>(
  'senders.addToBuckets',
  `
  insert into sender_buckets (login, bucket_start, event_count)
  select login, bucket_start, event_count
  from unnest($1::text[], $2::timestamptz[], $3::int[]) as increments (login, bucket_start, event_count)
  order by login, bucket_start
  on conflict (login, bucket_start) do update set event_count = sender_buckets.event_count + excluded.event_count`,
);

type BucketRow = { readonly login: string; readonly start: Date; readonly count: number };

// Buckets of a replica whose clock is ahead wait until it is their time.
const countsOf = statement<BucketRow, [logins: string[], from: Date, to: Date]>(
  'senders.countsOf',
  `
  select login, bucket_start as start, event_count as count from sender_buckets
  where login = any($1::text[]) and bucket_start between $2 and $3`,
);

type SenderRow = {
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
      await inTransaction.run(addActivity, ...toColumns(activities, ['login', 'isBot', 'eventCount', 'firstAt', 'lastAt']));
      const increments = activities.flatMap(({ login, buckets }) => [...buckets].map(([start, count]) => ({ login, start: new Date(start), count })));
      await inTransaction.run(addToBuckets, ...toColumns(increments, ['login', 'start', 'count']));
    }),

  /** Of all replicas; a sender without events in that time is not in it. */
  countsOf: (logins: readonly string[], from: Date, to: Date) => database.all(countsOf, [...logins], from, to),
  /** The `limit` senders that were active last, by login; recentCount is over `from` to `to`. */
  latest: (from: Date, to: Date, limit: number) => database.all(latest, from, to, limit),
  /** @returns how many were deleted */
  deleteBucketsBefore: (limit: Date) => database.run(deleteBuckets, limit),
  /** Senders whose last delivery came before `limit`. @returns how many were deleted */
  deleteUnseenSince: (limit: Date) => database.run(deleteUnseen, limit),
});
