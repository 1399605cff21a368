// Tells a monitoring service that deliveries are refused because every connection is at its limit.
import type { Log } from '../platform/log.ts';
import type { Count } from './usage/reservations.ts';

export type LimitAlert = { readonly deliveryId: string; readonly period: string; readonly counts: readonly Count[] };

export type Alerts = ReturnType<typeof createAlerts>;

const timeoutMs = 5000;
const everyMs = 1000;
/** Of a flood, so many deliveries are named. */
const mostNamed = 100;

export function createAlerts({ url, log }: { readonly url: string | undefined; readonly log: Log }) {
  let pending: LimitAlert[] = [];
  let count = 0;
  let sending: Promise<void> | undefined;
  let pause: NodeJS.Timeout | undefined;

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

  function send(): void {
    const [newest, deliveries] = [pending.at(-1), count];
    if (!newest || url === undefined) return;
    const { period, counts } = newest;
    const deliveryIds = pending.map(({ deliveryId }) => deliveryId);
    pending = [];
    count = 0;
    const text = `${deliveries} webhook deliveries were refused: every broker connection has reached its limit for ${period}`;
    sending = post(url, { alert: 'broker-limits-reached', service: 'webhook-relay', text, period, connections: counts, deliveries, deliveryIds });
    pause = setTimeout(() => {
      pause = undefined;
      send();
    }, everyMs).unref();
  }

  return {
    /** Sent at once; a flood is told in one alert a second. Never throws, never waits. */
    limitsReached(alert: LimitAlert): void {
      if (url === undefined) return;
      count += 1;
      if (pending.length < mostNamed) pending.push(alert);
      if (!pause) send();
    },
    /** Sends what is pending. */
    async close(): Promise<void> {
      clearTimeout(pause);
      await sending;
      send();
      clearTimeout(pause);
      await sending;
    },
  };
}
