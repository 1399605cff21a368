// Says in the log when a process has become ready, when it no longer is, and why.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Health, readinessOfAll } from './health.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Log } from './log.ts';

const lookEveryMs = 1000;

/** Looks until the lifecycle stops; says each change once. */
export function watchReadiness(healths: ReadonlyMap<string, Health>, { stopping }: Pick<Lifecycle, 'stopping'>, log: Log): void {
  let said: string | undefined;
  const look = async () => {
    const faults = await failing(healths);
    const now = JSON.stringify(faults);
    if (now === said || stopping.aborted) return;
    said = now;
    if (Object.keys(faults).length === 0) log.info('ready');
    else log.warn({ checks: faults }, 'not ready');
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
