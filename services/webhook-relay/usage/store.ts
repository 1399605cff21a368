// All SQL of the usage counters and of the active connection.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
import type { BrokerUsage } from '../contract.ts';

/** The calendar month, in UTC, that a message counts in: `2026-01`. */
export const periodOf = (date: Date): string => date.toISOString().slice(0, 7);

/** The limit of a connection in a month, and the source of the limit. */
export type Quota = Pick<BrokerUsage, 'broker' | 'monthlyLimit' | 'limitSource'>;

export type UsageRow = Quota & { readonly period: string; readonly messageCount: number };

export type Count = Pick<BrokerUsage, 'broker' | 'messageCount' | 'monthlyLimit'>;

/** One connection as a reservation found it; rows come in failover order, which begins with the active one and goes round. */
export type Candidate = Count &
  (
    | {
        /** On the connection that was chosen: less than was wanted near its limit, more where a stock was granted. */
        readonly granted: number;
        readonly generation: string;
      }
    | { readonly granted: null }
  );

/** The right to publish one message on this connection. Each count has a generation of its own, and a new one with every reset. */
export type Reservation = { readonly broker: string; readonly period: string; readonly generation: string };

/** How many reservations to take off one count again. */
export type Refund = Reservation & { readonly count: number };

/** So near to a limit nothing is reserved ahead: fifty times the largest stock of a replica, so that none is refused for what another holds. */
const exactWithin = 10_000;

const granted = (room: string) =>
  `case when ${room} >= $6::bigint + $7::bigint + ${exactWithin} then $6::bigint + $7::bigint else greatest(0, least($6::bigint, ${room})) end`;

// One statement for any number of waiting deliveries. It sees the active connection as of now, whichever replica switched it.
// The count is decided under the row's lock, on the row as it is then: the snapshot only chooses the connection.
type ReserveValues = [
  brokers: readonly string[],
  limits: readonly number[],
  sources: readonly string[],
  usable: readonly boolean[],
  period: string,
  wanted: number,
  ahead: number,
];
const reserve = statement<Candidate, ReserveValues>(
  'usage.reserve',
  `
  with configured as (
    select c.*, count(*) over () as size
    from unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[]) with ordinality
      as c (broker, monthly_limit, limit_source, is_usable, position)
  ), active as (
    select coalesce((select c.position from active_connection a join configured c using (broker)), 1) as position,
           (select broker from active_connection) as stored
  ), candidates as (
    select c.broker, c.monthly_limit, c.limit_source, c.is_usable, coalesce(u.message_count, 0) as message_count,
           mod(c.position - a.position + c.size, c.size) as failover_order
    from configured c cross join active a
    left join broker_usage u on u.broker = c.broker and u.period = $5
  ), with_room as (
    select * from candidates where message_count < monthly_limit
  ), chosen as (
    select * from with_room where is_usable order by failover_order limit 1
  ), moved as (
    -- The active one is at its limit, so the next with room takes its place, reachable or not; unless it was switched just now.
    update active_connection set broker = next.broker, since = now()
    from (select broker, failover_order from with_room order by failover_order limit 1) next
    where next.failover_order > 0 and active_connection.broker = (select stored from active)
    returning active_connection.broker
  ), noted as (
    insert into connection_changes (kind, broker, previous) select 'moved', moved.broker, nullif(stored, '') from moved cross join active
  ), reserved as (
    insert into broker_usage as u (broker, period, message_count, monthly_limit, limit_source, granted)
    select broker, $5, ${granted('monthly_limit')}, monthly_limit, limit_source, ${granted('monthly_limit')} from chosen
    on conflict (broker, period) do update set
      message_count = u.message_count + ${granted('(excluded.monthly_limit - u.message_count)')},
      granted = ${granted('(excluded.monthly_limit - u.message_count)')},
      monthly_limit = excluded.monthly_limit,
      limit_source = excluded.limit_source
    returning u.broker, u.granted, u.generation
  )
  select c.broker, c.message_count as "messageCount", c.monthly_limit as "monthlyLimit", reserved.granted, reserved.generation
  from candidates c left join reserved using (broker)
  order by c.failover_order`,
);

// In one order everywhere, so that two of them cannot lock each other out.
const refund = rowsStatement<unknown, [refunds: readonly Refund[]]>(
  'usage.refund',
  [{ broker: 'text', period: 'text', generation: 'uuid', count: 'bigint' }],
  (refunds) => `
  with refunds as (
    select u.broker, u.period, r.count
    from (
      select broker, period, generation, sum(count) as count
      from ${refunds} as given
      group by broker, period, generation
    ) r
    join broker_usage u using (broker, period, generation)
    order by u.broker, u.period
    for update of u
  )
  update broker_usage u set message_count = greatest(0, u.message_count - r.count)
  from refunds r where u.broker = r.broker and u.period = r.period`,
);

const columns = 'broker, period, message_count as "messageCount", monthly_limit as "monthlyLimit", limit_source as "limitSource"';
const stored = statement<UsageRow>('usage.stored', `select ${columns} from broker_usage order by period desc, broker`);
const ofPeriod = statement<UsageRow, [period: string]>('usage.ofPeriod', `select ${columns} from broker_usage where period = $1 order by broker`);
const deleteBefore = statement<unknown, [period: string, kept: string]>('usage.deleteBefore', 'delete from broker_usage where period < $1 and period <> $2');
const deletePeriod = statement<unknown, [period: string]>('usage.deletePeriod', 'delete from broker_usage where period = $1');
// A connection that comes near its limit again causes another event.
const reset = statement<{ count: number }, [broker: string, period: string, by: string | null]>(
  'usage.reset',
  `
  with reset as (
    update broker_usage set message_count = 0, generation = gen_random_uuid() where broker = $1 and period = $2 returning broker
  ), noted as (
    insert into connection_changes (kind, broker, changed_by) select 'reset', broker, $3 from reset
  ), forgotten as (
    delete from near_limit_events where broker = $1 and period = $2
  )
  select count(*) as count from reset`,
);

const active = statement<{ broker: string }>('usage.active', 'select broker from active_connection');
const activate = statement<{ previous: string }, [broker: string, by: string | null]>(
  'usage.activate',
  `
  with previous as (select broker from active_connection for update), activated as (
    -- It is read here, before the row is written: else two switches at once would tell the same name.
    insert into active_connection as a (broker) select $1 from (select count(*) from previous) as locked
    on conflict (is_only) do update set broker = excluded.broker, since = now()
    returning coalesce((select broker from previous), '') as previous
  ), noted as (
    insert into connection_changes (kind, broker, previous, changed_by) select 'switched', $1, nullif(previous, ''), $2 from activated
  )
  select previous from activated`,
);

export type UsageStore = ReturnType<typeof createUsageStore>;

export const createUsageStore = (database: Database) => ({
  /** @param ahead so many more are reserved, where the limit is far */
  reserve: (quotas: readonly Quota[], isUsable: (broker: string) => boolean, { period, wanted, ahead }: { period: string; wanted: number; ahead: number }) =>
    database.all(
      reserve,
      quotas.map(({ broker }) => broker),
      quotas.map(({ monthlyLimit }) => monthlyLimit),
      quotas.map(({ limitSource }) => limitSource),
      quotas.map(({ broker }) => isUsable(broker)),
      period,
      wanted,
      ahead,
    ),
  /** Counts that were reset or deleted meanwhile stay as they are. */
  refund: (refunds: readonly Refund[]) => database.run(refund, refunds),
  /** Newest period first, then by name. */
  stored: () => database.all(stored),
  ofPeriod: (period: string) => database.all(ofPeriod, period),
  /** All before `period` but `kept`. */
  deleteBefore: (period: string, kept: string) => database.run(deleteBefore, period, kept),
  deletePeriod: (period: string) => database.run(deletePeriod, period),
  /** @returns how many counts were reset: 0 when nothing was published there this month */
  reset: async (broker: string, period: string, by: string | null = null) => (await database.first(reset, broker, period, by))?.count ?? 0,
  /** The name last made active; it may not be configured any more. */
  active: async () => (await database.first(active))?.broker ?? '',
  /** @param by the id of the credential that asks for it @returns the name that was active before */
  activate: async (broker: string, by: string | null = null) => (await database.first(activate, broker, by))?.previous ?? '',
});
