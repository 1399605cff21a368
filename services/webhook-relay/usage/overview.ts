// What each connection has used this month and which one is active: asked now, or as last known while the database is down.
import type { BrokerUsage } from '../contract.ts';
import type { DatabaseState } from '../database-state.ts';
import { periodOf } from './period.ts';
import type { Quota, UsageRow, UsageStore } from './store.ts';

export type Overview = {
  readonly period: string;
  /** Null when no connection is configured. */
  readonly active: string | null;
  /** The configured connections in their order, then others that were used this month. */
  readonly brokers: readonly BrokerUsage[];
};

export type Overviews = {
  /** Rejects when the database does not answer. */
  now(): Promise<Overview>;
  /** At most a second old, or the last that is known. Never rejects. */
  recent(): Promise<Overview>;
};

export type OverviewsParts = {
  readonly store: Pick<UsageStore, 'ofPeriod' | 'active'>;
  readonly quotas: () => readonly Quota[];
  readonly defaultLimit: number;
  readonly database: DatabaseState;
  readonly clock: () => Date;
};

const freshMs = 1000;

export function createOverviews({ store, quotas, defaultLimit, database, clock }: OverviewsParts): Overviews {
  let known: { readonly rows: readonly UsageRow[]; readonly active: string } = { rows: [], active: '' };
  let askedAt = -Infinity;
  let asking: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const [rows, active] = await Promise.all([store.ofPeriod(periodOf(clock())), store.active()]);
    known = { rows, active };
    askedAt = performance.now();
  }

  function compose(): Overview {
    const period = periodOf(clock());
    const configured = quotas();
    const rows = known.rows.filter((row) => row.period === period);
    const countOf = (broker: string) => rows.find((row) => row.broker === broker)?.messageCount ?? 0;
    const others = rows.filter(({ broker }) => !configured.some((quota) => quota.broker === broker));
    return {
      period,
      active: (configured.find(({ broker }) => broker === known.active) ?? configured[0])?.broker ?? null,
      brokers: [
        ...configured.map((quota) => toUsage(quota, countOf(quota.broker))),
        ...others.map(({ broker, messageCount }) => toUsage({ broker, monthlyLimit: defaultLimit, limitSource: 'default' }, messageCount)),
      ],
    };
  }

  return {
    async now() {
      await ask();
      return compose();
    },
    async recent() {
      if (database.isUp && performance.now() - askedAt > freshMs) {
        asking ??= ask()
          .catch((error: unknown) => database.failed(error))
          .finally(() => (asking = undefined));
        await asking;
      }
      return compose();
    },
  };
}

export function toUsage({ broker, monthlyLimit, limitSource }: Quota, messageCount: number): BrokerUsage {
  const remaining = Math.max(0, monthlyLimit - messageCount);
  return { broker, messageCount, monthlyLimit, limitSource, remaining, limitReached: remaining === 0 };
}
