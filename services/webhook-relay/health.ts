// Health of the relay: what GET /api/health answers, and its checks for readiness.
import { once } from 'node:events';
import type { Check, CheckResult } from '../platform/health.ts';
import { version } from '../platform/version.ts';
import type { Connections } from './connections/connections.ts';
import type { HealthReport } from './contract.ts';
import type { DatabaseState } from './database.ts';
import type { Usage } from './usage/usage.ts';

export type ReportHealth = ReturnType<typeof createHealthReport>;

export const createHealthReport = (connections: Connections, usage: Usage, database: DatabaseState) => async (): Promise<HealthReport> => {
  const { active, brokers: usages } = await usage.recent();
  const brokers = connections.all.map(({ target: { name }, isUsable }) => ({
    broker: name,
    isActive: name === active,
    isConnected: isUsable,
    limitReached: usages.some(({ broker, limitReached }) => broker === name && limitReached),
  }));
  const isDatabaseReachable = database.isUp;
  return { status: judge(brokers, isDatabaseReachable), version, brokers, isDatabaseReachable };
};

function judge(brokers: HealthReport['brokers'], isDatabaseReachable: boolean): HealthReport['status'] {
  const usable = brokers.filter(({ isConnected, limitReached }) => isConnected && !limitReached);
  if (usable.length === 0) return 'Unhealthy';
  return usable.length === brokers.length && isDatabaseReachable ? 'Healthy' : 'Degraded';
}

/** Whether a client asks for plain text, and not for JSON. */
export function prefersText(accept = ''): boolean {
  const types = accept.toLowerCase();
  return types.includes('text/plain') && !types.includes('application/json');
}

// A relay is needed most while others are down, so its readiness waits for them at the start only.

/** Unready for so long at most, so that a first delivery finds its connection. */
const connectMs = 3000;

/** Passes once each connection stands or had its time. `over` resolves then, or when the process stops. */
export function awaitBrokers(connections: Connections, stopping: AbortSignal): { readonly check: Check; readonly over: Promise<void> } {
  let isOver = false;
  const stopped = once(stopping, 'abort');
  const ready = Promise.allSettled(connections.all.map((connection) => connection.ready(connectMs)));
  const over = Promise.race([ready, stopped]).then(() => void (isOver = true));
  return { over, check: () => (isOver ? { ok: true } : { ok: false, detail: 'connecting' }) };
}

/** Asked until it has passed once. */
export function passedOnce(check: Check): Check {
  let last: CheckResult = { ok: false };
  return async () => (last.ok ? last : (last = await check()));
}
