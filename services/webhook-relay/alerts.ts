// Tells a monitoring service that deliveries are refused because every connection is at its limit.
import type { Log } from '../platform/log.ts';
import type { Count } from './usage/reservations.ts';

export type LimitAlert = { readonly deliveryId: string; readonly period: string; readonly counts: readonly Count[] };

export type Alerts = {
  /** Sent at once; a flood is gathered into one alert a second. Never throws, never waits. */
  limitsReached(alert: LimitAlert): void;
  /** Sends what has gathered. */
  close(): Promise<void>;
};

export type AlertsParts = { readonly url: string | undefined; readonly log: Log; readonly everyMs?: number };

const answerMs = 5000;
/** Of a flood, so many deliveries are named. */
const mostNamed = 100;

export function createAlerts({ url, log, everyMs = 1000 }: AlertsParts): Alerts {
  let gathered: LimitAlert[] = [];
  let count = 0;
  let sending: Promise<void> | undefined;
  let pause: NodeJS.Timeout | undefined;

  async function post(to: string, body: object): Promise<void> {
    try {
      const signal = AbortSignal.timeout(answerMs);
      const response = await fetch(to, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal });
      await response.body?.cancel();
      if (!response.ok) log.warn({ status: response.status }, 'the monitoring service refused an alert');
    } catch (error) {
      log.warn({ error }, 'the monitoring service could not be told');
    }
  }

  function send(): void {
    const [newest, deliveries] = [gathered.at(-1), count];
    if (!newest || url === undefined) return;
    const { period, counts } = newest;
    const deliveryIds = gathered.map(({ deliveryId }) => deliveryId);
    gathered = [];
    count = 0;
    const text = `${deliveries} webhook deliveries were refused: every broker connection has reached its limit for ${period}`;
    sending = post(url, { alert: 'broker-limits-reached', service: 'webhook-relay', text, period, connections: counts, deliveries, deliveryIds });
    pause = setTimeout(() => {
      pause = undefined;
      send();
    }, everyMs).unref();
  }

  return {
    limitsReached(alert) {
      if (url === undefined) return;
      count += 1;
      if (gathered.length < mostNamed) gathered.push(alert);
      if (!pause) send();
    },
    async close() {
      clearTimeout(pause);
      await sending;
      send();
      clearTimeout(pause);
      await sending;
    },
  };
}
