// The relay's own readiness: it is needed most while others are down, so it waits for them at the start only.
import type { Check } from '../platform/http/health.ts';
import type { Connections } from './connections/connections.ts';

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

/** What was right once is not asked again. */
export function seenOnce(check: Check): Check {
  let seen = false;
  return async () => {
    if (seen) return { ok: true };
    const result = await check();
    seen = result.ok;
    return result;
  };
}
