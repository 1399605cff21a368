// Tells by an event of Signalbox' own that a connection is near its monthly limit: once for each month, percentage and limit.
import type { Outbox } from '../../platform/events/events.ts';
import type { Log } from '../../platform/log.ts';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import type { Lifecycle } from '../../platform/process/lifecycle.ts';
import { runPeriodically } from '../../platform/process/periodic-job.ts';
import type { BrokerUsage, PeriodUsage } from '../contract.ts';

type NearLimitParts = {
  readonly database: Database;
  readonly usage: () => Promise<PeriodUsage>;
  readonly percent: number;
  readonly outbox: Outbox;
  /** Called when there is a new event. */
  readonly wake: () => void;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  readonly clock: () => Date;
  readonly everyMs?: number;
};

const usualEveryMs = 15_000;

const insert = statement<unknown, [broker: string, period: string, percent: number, limit: number]>(
  'nearLimit.insert',
  'insert into near_limit_events (broker, period, percent, monthly_limit) values ($1, $2, $3, $4) on conflict do nothing',
);
const deleteBefore = statement<unknown, [period: string]>('nearLimit.deleteBefore', 'delete from near_limit_events where period < $1');

/** @returns how many were deleted */
export const deleteNearLimitBefore = (database: Database, period: string) => database.run(deleteBefore, period);

/** Whether a connection has used so many percent of its monthly limit. */
export const isNearLimit = ({ messageCount, monthlyLimit }: Pick<BrokerUsage, 'messageCount' | 'monthlyLimit'>, percent: number): boolean =>
  messageCount * 100 >= monthlyLimit * percent;

/** Looks at the counts every 15 s, on one replica at a time: beside the deliveries, of which none waits for it. */
export function watchLimits(parts: NearLimitParts): void {
  const { database, usage, percent, outbox, wake, log, clock, everyMs = usualEveryMs } = parts;

  async function tell(period: string, { broker, messageCount, monthlyLimit, remaining }: BrokerUsage): Promise<void> {
    const isNew = await database.transaction(async (inTransaction) => {
      if ((await inTransaction.run(insert, broker, period, percent, monthlyLimit)) === 0) return false;
      const title = `${broker} has used ${percent} % of its messages of ${period}`;
      const text = `${messageCount} of ${monthlyLimit} messages are used, ${remaining} remain.`;
      const data = { title, text, url: null, isFailure: true, broker, period, percent, messageCount, monthlyLimit, remaining };
      await outbox.add(inTransaction, [{ type: 'broker.near_limit', object: broker, data, at: clock() }]);
      return true;
    });
    if (!isNew) return;
    log.warn({ broker, period, percent, messageCount, monthlyLimit }, 'broker connection is near its monthly limit');
    wake();
  }

  const work = async () => {
    const { period, brokers } = await usage();
    const near = brokers.filter((broker) => broker.monthlyLimit > 0 && isNearLimit(broker, percent));
    for (const one of near) await tell(period, one);
  };
  runPeriodically(parts, { name: 'relay.near-limit', everyMs, work });
}
