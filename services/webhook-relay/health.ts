// Health of the relay: what GET /api/health answers, and its checks for readiness.
import type { Check } from '../platform/http/health.ts';
import { version } from '../platform/version.ts';
import type { Connections } from './connections/connections.ts';
import type { HealthReport } from './contract.ts';
import type { DatabaseState } from './database.ts';
import type { Overviews } from './usage/usage.ts';

type Sources = { readonly connections: Connections; readonly overviews: Overviews; readonly database: DatabaseState };

export type ReportHealth = ReturnType<typeof createHealthReport>;

export const createHealthReport =
  ({ connections, overviews, database }: Sources) =>
  async (): Promise<HealthReport> => {
    const { active, brokers: usages } = await overviews.recent();
    const brokers = connections.all.map(({ target: { name }, isConnected }) => ({
      broker: name,
      isActive: name === active,
      isConnected,
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

/** Whether a client asks for plain text before JSON. RFC 9110 section 12.5.1, as far as the two types need it. */
export function prefersText(accept: string | undefined): boolean {
  const weightOf = (type: string) => {
    const ranges = (accept ?? '*/*')
      .toLowerCase()
      .split(',')
      .map((range) => range.split(';').map((part) => part.trim()));
    const specific =
      ranges.find(([name]) => name === type) ?? ranges.find(([name]) => name === `${type.split('/')[0]}/*`) ?? ranges.find(([name]) => name === '*/*');
    const quality = specific?.find((part) => part.startsWith('q='))?.slice(2) ?? '1';
    return specific ? Number(quality) : 0;
  };
  return weightOf('text/plain') > weightOf('application/json');
}

// A relay is needed most while others are down, so its readiness waits for them at the start only.

/** Unready for so long at most, so that a first delivery finds its connection. */
const connectMs = 3000;

/** Passes once each connection stands or had its time. `over` resolves then, or when the process stops. */
export function awaitBrokers(connections: Connections, stopping: AbortSignal): { readonly check: Check; readonly over: Promise<void> } {
  let isOver = false;
  const stopped = new Promise((resolve) => stopping.addEventListener('abort', resolve, { once: true }));
  const ready = Promise.allSettled(connections.all.map((connection) => connection.ready(connectMs)));
  const over = Promise.race([ready, stopped]).then(() => void (isOver = true));
  return { over, check: () => (isOver ? { ok: true } : { ok: false, detail: 'connecting' }) };
}

/** Asked until it has passed once. */
export function seenOnce(check: Check): Check {
  let seen = false;
  return async () => {
    if (seen) return { ok: true };
    const result = await check();
    seen = result.ok;
    return result;
  };
}
