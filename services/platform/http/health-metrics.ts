// The readiness checks of a process for Prometheus: what a probe is told, to look at and to be alerted by.
import type { Health } from './health.ts';
import type { Metrics } from '../metrics.ts';

export function measureHealth(metrics: Metrics, healths: ReadonlyMap<string, Health>): void {
  metrics.gauge({
    name: 'signalbox_health_check_ok',
    help: '1 while the readiness check passes, by what runs in the process and the name of its check.',
    labels: ['service', 'check'],
    async collect(gauge) {
      const all = await Promise.all([...healths].map(async ([service, health]) => ({ service, ...(await health.readiness()) })));
      for (const { service, checks } of all) for (const [check, { ok }] of Object.entries(checks)) gauge.set({ service, check }, ok ? 1 : 0);
    },
  });
}
