// Says in the log when a process has become ready, when it no longer is, and why.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Health, readinessOfAll } from './health.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { Log } from '../log.ts';

const lookEveryMs = 1000;

/** Looks until the lifecycle stops. A line tells that the set of failing checks is another one than before, with the reasons of that
 *  moment; a check that fails on for another reason is no news: a server that is away refuses, hangs and times out in turn. */
export function watchReadiness(healths: ReadonlyMap<string, Health>, { stopping }: Pick<Lifecycle, 'stopping'>, log: Log): void {
  let said: string | undefined;
  const look = async () => {
    const reasons = await failing(healths);
    const checks = Object.keys(reasons).toSorted().join();
    if (checks === said || stopping.aborted) return;
    said = checks;
    if (checks === '') log.info('ready');
    else log.warn({ checks: reasons }, 'not ready');
  };
  const loop = async () => {
    while (!stopping.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal: stopping, ref: false }).catch(() => undefined); // stopping ends the wait
    }
  };
  void loop();
}

/** Name of each failing check → its reason. */
async function failing(healths: ReadonlyMap<string, Health>): Promise<Record<string, string>> {
  const { checks } = await readinessOfAll(healths);
  return Object.fromEntries(Object.entries(checks).flatMap(([check, { ok, detail }]) => (ok ? [] : [[check, detail ?? 'failed'] as const])));
}
