// Readings of the relay's answers that several programs need. When the quota of each connection will be full: the traffic of the last days, put on one
// connection after another as the relay does.
import { dayMs, hourMs } from '../platform/time.ts';

export type Quota = {
  readonly name: string;
  readonly isActive: boolean;
  readonly isConnected: boolean;
  readonly messageCount: number;
  readonly monthlyLimit: number;
};
export type UsedDay = { readonly day: string; readonly messageCount: number };

export type Forecast = {
  /** Null: not within this month. */
  readonly fullAt: Date | null;
  /** Messages of the month at a time that is still to come, by `getTime()`. */
  readonly usedAt: (time: number) => number;
};

/** A week, so that its quiet days count as well. */
const lookBackDays = 7;

const monthEnd = (now: Date) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);

/** Messages a millisecond since the first of the last days that had any; undefined where none had. */
function rateOf(days: readonly UsedDay[], now: Date): number | undefined {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const recent = days.filter(({ day, messageCount }) => messageCount > 0 && Date.parse(day) >= today - lookBackDays * dayMs);
  if (recent.length === 0) return undefined;
  const first = Math.min(...recent.map(({ day }) => Date.parse(day)));
  const sum = recent.reduce((all, { messageCount }) => all + messageCount, 0);
  return sum / Math.max(hourMs, now.getTime() - first);
}

/**
 * The active connection fills first, then the next one that is connected, in their order and round. A quota begins anew with each month (UTC).
 * @returns by name; connections that are away have none, and none has one where nothing was published lately
 */
export function forecasts(quotas: readonly Quota[], days: readonly UsedDay[], now: Date): ReadonlyMap<string, Forecast> {
  const rate = rateOf(days, now);
  const found = new Map<string, Forecast>();
  if (rate === undefined) return found;
  const first = Math.max(
    0,
    quotas.findIndex(({ isActive }) => isActive),
  );
  const end = monthEnd(now);
  let begin = now.getTime();
  for (const { name, isConnected, messageCount, monthlyLimit } of [...quotas.slice(first), ...quotas.slice(0, first)]) {
    if (!isConnected) continue;
    const from = begin;
    const full = from + Math.max(0, monthlyLimit - messageCount) / rate;
    found.set(name, {
      fullAt: full < end ? new Date(full) : null,
      usedAt: (time) => messageCount + Math.max(0, Math.min(time, full) - from) * rate,
    });
    begin = full;
  }
  return found;
}

/** The share of the quota that is used at the end of the month. */
export const shareAtEnd = ({ usedAt }: Forecast, { monthlyLimit }: Quota, now: Date): number =>
  monthlyLimit === 0 ? 1 : Math.min(1, usedAt(monthEnd(now)) / monthlyLimit);
