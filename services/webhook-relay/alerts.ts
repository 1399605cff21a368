// Tells a monitoring service that deliveries are refused because every connection is at its limit.
import type { Log } from '../platform/log.ts';
import { sleepUntil } from '../platform/time.ts';
import type { Count } from './usage/store.ts';

type LimitAlert = { readonly deliveryId: string; readonly period: string; readonly counts: readonly Count[] };

export type Alerts = ReturnType<typeof createAlerts>;

const timeoutMs = 5000;
const everyMs = 1000;
/** An alert about a flood names so many deliveries. */
const mostNamed = 100;

export function createAlerts(url: string | undefined, log: Log) {
  let pending: LimitAlert[] = [];
  let sending: Promise<void> | undefined;
  const closing = new AbortController();

  async function post(to: string, body: object): Promise<void> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const response = await fetch(to, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal });
      await response.body?.cancel();
      if (!response.ok) log.warn({ status: response.status }, 'sending the alert failed, the monitoring service refused it');
    } catch (error) {
      log.warn({ error }, 'sending the alert failed');
    }
  }

  async function sendPending(to: string): Promise<void> {
    for (let newest = pending.at(-1); newest; newest = pending.at(-1)) {
      const { period, counts: connections } = newest;
      const deliveries = pending.length;
      const deliveryIds = pending.slice(0, mostNamed).map(({ deliveryId }) => deliveryId);
      pending = [];
      const text = `${deliveries} webhook deliveries were refused: every broker connection has reached its limit for ${period}`;
      await post(to, { alert: 'broker-limits-reached', service: 'webhook-relay', text, period, connections, deliveries, deliveryIds });
      await sleepUntil(closing.signal, everyMs);
    }
    sending = undefined;
  }

  return {
    /** Sent at once; a flood makes one alert a second. Never throws, never waits. */
    limitsReached(alert: LimitAlert): void {
      if (url === undefined) return;
      pending.push(alert);
      sending ??= sendPending(url);
    },
    /** Sends what is pending. */
    async close(): Promise<void> {
      closing.abort();
      await sending;
    },
  };
}
