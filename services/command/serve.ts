// `signalbox serve`, `signalbox worker` and `signalbox operator`: a process that runs until a signal stops it. Loaded only for these commands.
import { deployables } from './deployables.ts';
import { ConfigError, type Environment, readAll, readSettings } from '../platform/config/config.ts';
import { commonSettings, processSettings } from '../platform/config/settings.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { awaitSchema } from '../platform/postgres/migrations.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import { runProcess } from '../platform/process/process.ts';
import { createRuntimes } from '../platform/process/runtime.ts';
import { warnOfUnknownSettings } from './unknown-settings.ts';

type ProcessCall = { readonly environment: Environment; readonly writeError: (text: string) => void };

/** Measured on a cluster: a load balancer of a busy node takes up to this long to notice an unready pod. */
const loadBalancerMs = 10_000;

type Mode = 'service' | 'worker' | 'one job';

/** Runs until SIGTERM or SIGINT, or until its job is done, with metrics and health on METRICS_PORT. */
async function run({ environment, writeError }: ProcessCall, parts: readonly Pick<Deployable, 'name' | 'read' | 'start'>[], mode: Mode): Promise<void> {
  const [{ metricsPort, logLevel, appEnv }, configured] = await readAll(
    () => readSettings(environment, processSettings),
    () => readAll(...parts.map((part) => async () => ({ part, config: await part.read(environment) }))),
  );
  const root = createLog({ level: logLevel });
  const log = root.child({ service: parts.map(({ name }) => name).join('+') });
  warnOfUnknownSettings(environment, log);
  const drainMs = mode === 'service' && appEnv === 'production' ? loadBalancerMs : 0;
  await runProcess({ log, drainMs, writeError }, async (lifecycle) => {
    const runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), logFor: (service) => root.child({ service }) });
    await runtimes.serveMetrics(metricsPort);
    for (const { part, config } of configured) await part.start(runtimes.of(part.name, environment), config);
    if (mode === 'one job') return 'done';
    runtimes.watchReadiness(log);
    return undefined;
  });
}

/** @param workers in the process of the services: a process of its own takes some 40 MiB */
export async function serve(call: ProcessCall, wanted: readonly string[], workers: readonly string[]): Promise<void> {
  const beside = workers.map(async (name) => ({ ...(await deployables.loadWorker(name)).worker, name }));
  await run(call, [...(await deployables.load(wanted)), ...(await Promise.all(beside))], 'service');
}

/** `signalbox operator`: no service, no database; it speaks to the API server. */
export const operate = async (call: ProcessCall) => run(call, [(await deployables.loadOperator()).operator], 'worker');

type WorkOptions = {
  readonly loop?: true;
  /** Seconds, for one job. */
  readonly wait?: number;
  /** The folder that the settings came from. */
  readonly data?: string;
};

/** Names the option that gives a laptop's settings, where one is missing. */
function nameDataOption(error: unknown): never {
  if (!(error instanceof ConfigError) || !error.faults.some((fault) => fault.endsWith('is required and not set'))) throw error;
  throw new ConfigError([...error.faults, 'beside `npm start`, --data .signalbox gives its settings']);
}

export async function work(call: ProcessCall, name: string, { loop, wait = 0, data }: WorkOptions): Promise<void> {
  const { worker, migrations } = await deployables.loadWorker(name);
  const { read, start } = worker;
  const once: typeof start = async (runtime, config) => {
    if (migrations && wait > 0) {
      const { databaseUrl } = readSettings(call.environment, { databaseUrl: commonSettings.databaseUrl });
      await awaitSchema(databaseUrl.reveal(), migrations, { waitMs: wait * 1000, stopping: runtime.lifecycle.stopping, log: runtime.log });
    }
    await worker.once(runtime, config);
  };
  const working = run(call, [{ name, read, start: loop ? start : once }], loop ? 'worker' : 'one job');
  await (data === undefined ? working.catch(nameDataOption) : working);
}
