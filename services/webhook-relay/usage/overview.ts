// What each connection has used this month and which one is active: asked now, or as last known while the database is down.
import { withTimeout } from '../../platform/time.ts';
import { patienceMs } from '../answer-in-time.ts';
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
  /** At most a second old, or the last that is known, also where the database takes its time: a 401, a probe and a scrape wait
   *  for it. Never rejects. */
  recent(): Promise<Overview>;
  /** Something was changed from here: what was asked until now is no longer recent. */
  changed(): void;
};

export type OverviewsParts = {
  readonly store: Pick<UsageStore, 'ofPeriod' | 'active'>;
  readonly quotas: () => readonly Quota[];
  readonly defaultLimit: number;
  readonly database: DatabaseState;
  readonly clock: () => Date;
};

type Known = { readonly rows: readonly UsageRow[]; readonly active: string };

const freshMs = 1000;

export function createOverviews({ store, quotas, defaultLimit, database, clock }: OverviewsParts): Overviews {
  let known: Known = { rows: [], active: '' };
  let askedAt = -Infinity;
  let asking: Promise<Known | undefined> | undefined;
  let changes = 0;

  async function ask(): Promise<Known> {
    const asOf = changes;
    const [rows, active] = await Promise.all([store.ofPeriod(periodOf(clock())), store.active()]);
    const answer = { rows, active };
    // What was asked before a change may come after what was asked behind it.
    if (asOf === changes) {
      known = answer;
      askedAt = performance.now();
    }
    return answer;
  }

  function compose({ rows: all, active }: Known): Overview {
    const period = periodOf(clock());
    const configured = quotas();
    const rows = all.filter((row) => row.period === period);
    const countOf = (broker: string) => rows.find((row) => row.broker === broker)?.messageCount ?? 0;
    const others = rows.filter(({ broker }) => !configured.some((quota) => quota.broker === broker));
    return {
      period,
      active: (configured.find(({ broker }) => broker === active) ?? configured[0])?.broker ?? null,
      brokers: [
        ...configured.map((quota) => toUsage(quota, countOf(quota.broker))),
        ...others.map(({ broker, messageCount }) => toUsage({ broker, monthlyLimit: defaultLimit, limitSource: 'default' }, messageCount)),
      ],
    };
  }

  return {
    async now() {
      return compose(await ask());
    },
    async recent() {
      if (database.isUp && performance.now() - askedAt > freshMs) {
        asking ??= ask()
          .catch((error: unknown) => void database.failed(error))
          .finally(() => (asking = undefined));
        return compose((await withTimeout(asking, patienceMs, () => undefined)) ?? known);
      }
      return compose(known);
    },
    changed() {
      changes++;
      askedAt = -Infinity;
      asking = undefined;
    },
  };
}

export function toUsage({ broker, monthlyLimit, limitSource }: Quota, messageCount: number): BrokerUsage {
  const remaining = Math.max(0, monthlyLimit - messageCount);
  return { broker, messageCount, monthlyLimit, limitSource, remaining, limitReached: remaining === 0 };
}
