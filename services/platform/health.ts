// Readiness of a deployable: the checks of everything it cannot answer without, their gauge and their log line.
import { z } from 'zod';
import { codeOf } from './errors.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { every, withTimeout } from './time.ts';

const CheckResult = z
  .object({
    ok: z.boolean().meta({ description: 'Whether the check passes' }),
    detail: z.string().optional().meta({ description: 'The reason of a check that fails' }),
  })
  .meta({ id: 'CheckResult', description: 'The result of one check.', examples: [{ ok: true }] });
export type CheckResult = z.output<typeof CheckResult>;
export type Check = () => CheckResult | Promise<CheckResult>;
export const Readiness = z
  .object({
    status: z.enum(['ready', 'unready']).meta({ description: '`ready` when every check passes' }),
    checks: z.record(z.string(), CheckResult).meta({ description: 'The result of each check, by its name' }),
  })
  .meta({ id: 'Readiness', description: 'Whether the service can answer, and why not.', examples: [{ status: 'ready', checks: { database: { ok: true } } }] });
export type Readiness = z.output<typeof Readiness>;

export type Health = ReturnType<typeof createHealth>;

const checkTimeoutMs = 2000;

async function outcome(check: Check): Promise<CheckResult> {
  try {
    return await withTimeout((async () => check())(), checkTimeoutMs, () => ({ ok: false, detail: `no answer in ${checkTimeoutMs} ms` }));
  } catch (error) {
    // By its code alone: readiness is open to everybody, and messages of drivers name hosts, ports and users.
    const code = codeOf(error);
    return { ok: false, detail: code === undefined ? 'failed' : `failed (${code})` };
  }
}

export function createHealth() {
  const checks = new Map<string, Check>();
  const health = {
    isStopping: false, // every request looks at it
    /** A failing or throwing check makes the service unready, and only that. */
    addCheck: (name: string, check: Check) => void checks.set(name, check),
    /** Unready from now on: the first step of stopping. */
    markStopping: () => void (health.isStopping = true),
    async readiness(): Promise<Readiness> {
      const results = await Promise.all([...checks].map(async ([name, check]) => [name, await outcome(check)] as const));
      if (health.isStopping) results.push(['stopping', { ok: false, detail: 'the process is stopping' }]);
      return { status: results.every(([, { ok }]) => ok) ? 'ready' : 'unready', checks: Object.fromEntries(results) };
    },
  };
  return health;
}

type Healths = ReadonlyMap<string, Health>;

/** The readiness of each deployable in a process. */
const readinesses = (healths: Healths) => Promise.all([...healths].map(async ([service, health]) => ({ service, ...(await health.readiness()) })));

/** The readiness of everything in a process: ready when all are, each check as `<name>.<check>`. */
export async function readinessOfAll(healths: Healths): Promise<Readiness> {
  const all = await readinesses(healths);
  const checks = all.flatMap(({ service, checks: own }) => Object.entries(own).map(([check, result]) => [`${service}.${check}`, result] as const));
  return { status: all.every(({ status }) => status === 'ready') ? 'ready' : 'unready', checks: Object.fromEntries(checks) };
}

/** The results of readiness checks as a metric, for dashboards and alerts. */
export function measureHealth(metrics: Metrics, healths: Healths): void {
  metrics.gauge({
    name: 'signalbox_health_check_ok',
    help: '1 while the readiness check passes, by what runs in the process and the name of its check.',
    labels: ['deployable', 'check'],
    async collect(gauge) {
      for (const { service: deployable, checks } of await readinesses(healths))
        for (const [check, { ok }] of Object.entries(checks)) gauge.set({ deployable, check }, ok ? 1 : 0);
    },
  });
}

const lookEveryMs = 1000;

/** Looks until the lifecycle stops. A line tells that the set of failing checks is another one than before, with the reasons of that
 *  moment; a check that fails on for another reason is no news: a server that is away refuses, hangs and times out in turn. */
export function watchReadiness(healths: Healths, stopping: AbortSignal, log: Log): void {
  let said: string | undefined;
  const look = async () => {
    const { checks } = await readinessOfAll(healths);
    const failing = Object.entries(checks).filter(([, { ok }]) => !ok);
    const names = failing.map(([name]) => name).join();
    if (names === said || stopping.aborted) return;
    said = names;
    if (names === '') log.info('ready');
    else log.warn({ checks: Object.fromEntries(failing.map(([name, { detail = 'failed' }]) => [name, detail])) }, 'not ready');
  };
  void every(lookEveryMs, stopping, look);
}
