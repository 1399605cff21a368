// Liveness and readiness of one deployable: the state of what it cannot answer without.
import { withTimeout } from '../time.ts';

export type CheckResult = { readonly ok: boolean; readonly detail?: string };
export type Check = () => CheckResult | Promise<CheckResult>;
export type Readiness = { readonly status: 'ready' | 'unready'; readonly checks: Readonly<Record<string, CheckResult>> };

export type Health = {
  /** A failing or throwing check makes the service unready, and only that. */
  addCheck(name: string, check: Check): void;
  /** Unready from now on: the first step of stopping. */
  markStopping(): void;
  readonly isStopping: boolean;
  /** A request came that is no probe. */
  asked(): void;
  /** When the last one came, by `performance.now()`; 0 before. */
  readonly lastAskedMs: number;
  readiness(): Promise<Readiness>;
};

const checkTimeoutMs = 2000;

// Readiness is open to everybody, and messages of drivers name hosts, ports and users.
function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? `failed (${error.code})` : 'failed';
}

async function outcome(check: Check): Promise<CheckResult> {
  const asked = async () => check();
  try {
    return await withTimeout(asked(), checkTimeoutMs, () => ({ ok: false, detail: `no answer in ${checkTimeoutMs} ms` }));
  } catch (error) {
    return { ok: false, detail: reasonOf(error) };
  }
}

export function createHealth(): Health {
  const checks = new Map<string, Check>();
  let stopping = false;
  let lastAskedMs = 0;
  return {
    addCheck: (name, check) => checks.set(name, check),
    markStopping: () => {
      stopping = true;
    },
    get isStopping() {
      return stopping;
    },
    asked: () => {
      lastAskedMs = performance.now();
    },
    get lastAskedMs() {
      return lastAskedMs;
    },
    async readiness() {
      const results = await Promise.all([...checks].map(async ([name, check]) => [name, await outcome(check)] as const));
      if (stopping) results.push(['stopping', { ok: false, detail: 'the process is stopping' }]);
      return { status: results.every(([, { ok }]) => ok) ? 'ready' : 'unready', checks: Object.fromEntries(results) };
    },
  };
}

/** The readiness of everything in a process: ready when all are, each check as `<name>.<check>`. */
export async function readinessOfAll(healths: ReadonlyMap<string, Health>): Promise<Readiness> {
  const all = await Promise.all([...healths].map(async ([name, health]) => ({ name, ...(await health.readiness()) })));
  const checks = all.flatMap(({ name, checks: own }) => Object.entries(own).map(([check, result]): [string, CheckResult] => [`${name}.${check}`, result]));
  return { status: all.every(({ status }) => status === 'ready') ? 'ready' : 'unready', checks: Object.fromEntries(checks) };
}
