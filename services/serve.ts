// `signalbox serve` and `signalbox worker`: a process that runs until it is told to stop. Loaded only for these words.
import { deployables } from './deployables.ts';
import { type Environment, readAll, readSettings } from './platform/config/config.ts';
import { processSettings } from './platform/config/process-settings.ts';
import { createLog } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { runProcess } from './platform/process/process.ts';
import { createRuntimes, type Runtimes } from './platform/process/runtime.ts';

type ProcessCall = { readonly environment: Environment; readonly writeError: (text: string) => void };

/** Measured on a cluster: a load balancer of a busy node takes up to this long to notice an unready pod. */
const loadBalancerMs = 10_000;

type Work<Config> = {
  readonly name: string;
  /** What load balancers send requests to. */
  readonly isServed: boolean;
  /** @throws ConfigError with every fault */
  readonly read: () => Promise<Config>;
  readonly start: (runtimes: Runtimes, config: Config) => Promise<'done' | undefined>;
};

/** Runs until SIGTERM or SIGINT, with metrics and health on METRICS_PORT. */
async function run<Config>({ environment, writeError }: ProcessCall, { name, isServed, read, start }: Work<Config>): Promise<void> {
  const [{ metricsPort, logLevel, appEnv }, config] = await readAll(() => readSettings(environment, processSettings), read);
  const root = createLog({ level: logLevel });
  const log = root.child({ service: name });
  const drainMs = isServed && appEnv === 'production' ? loadBalancerMs : 0;
  await runProcess({ log, drainMs, writeError }, async (lifecycle) => {
    const runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), logFor: (service) => root.child({ service }) });
    await runtimes.serveMetrics(metricsPort);
    const outcome = await start(runtimes, config);
    if (outcome !== 'done') runtimes.watchReadiness(log);
    return outcome;
  });
}

export async function serve(call: ProcessCall, wanted: readonly string[]): Promise<void> {
  const { environment } = call;
  const chosen = await deployables.load(wanted);
  await run(call, {
    name: wanted.join('+'),
    isServed: true,
    read: () => readAll(...chosen.map((deployable) => async () => ({ deployable, config: await deployable.read(environment) }))),
    start: async (runtimes, configured) => {
      for (const { deployable, config } of configured) await deployable.start(runtimes.of(deployable.name, environment), config);
      return undefined;
    },
  });
}

export async function work(call: ProcessCall, name: string, { loop }: { loop?: true }): Promise<void> {
  const { environment } = call;
  const worker = await deployables.loadWorker(name);
  await run(call, {
    name,
    isServed: false,
    read: async () => worker.read(environment),
    start: async (runtimes, config) => {
      const runtime = runtimes.of(name, environment);
      if (!loop) {
        await worker.once(runtime, config);
        return 'done';
      }
      await worker.start(runtime, config);
      return undefined;
    },
  });
}
