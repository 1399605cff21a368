// `signalbox serve` and `signalbox worker`: a process that runs until it is told to stop. Loaded only for these words.
import { deployables } from './deployables.ts';
import { processSettings } from './platform/config/process-settings.ts';
import { type Environment, readSettings, readAll } from './platform/config/config.ts';
import type { Deployable } from './platform/process/deployable.ts';
import { createLog } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { runProcess } from './platform/process/process.ts';
import { createRuntimes, type Runtimes } from './platform/process/runtime.ts';

export type ProcessCall = { readonly environment: Environment; readonly writeError: (text: string) => void };

/** Measured on a cluster: load balancers take up to the first to notice an unready pod, up to the second where the node is busy. */
const productionDrain = { drainMs: 3000, longestDrainMs: 10_000 };

type Work = {
  readonly name: string;
  /** Reads all settings of what is to run, and throws their faults. */
  readonly check: () => unknown;
  readonly start: (runtimes: Runtimes) => Promise<'done' | undefined>;
};

/** Runs until SIGTERM or SIGINT, with metrics and health on METRICS_PORT. */
async function run({ environment, writeError }: ProcessCall, { name, check, start }: Work): Promise<void> {
  const [{ metricsPort, logLevel, appEnv }] = await readAll(() => readSettings(environment, processSettings), check);
  const root = createLog({ level: logLevel });
  const log = root.child({ service: name });
  let runtimes: Runtimes | undefined;
  const drain = appEnv === 'production' ? productionDrain : { drainMs: 0 };
  const traffic = { markStopping: () => runtimes?.markStopping(), lastAskedMs: () => runtimes?.lastAskedMs() ?? 0 };
  await runProcess({ log, ...drain, ...traffic, writeError }, async (lifecycle) => {
    runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), logFor: (service) => root.child({ service }) });
    await runtimes.serveMetrics(metricsPort);
    const outcome = await start(runtimes);
    if (outcome !== 'done') runtimes.watchReadiness(log);
    return outcome;
  });
}

const configOf = (environment: Environment, { settings, check }: Deployable) => check?.(environment) ?? readSettings(environment, settings);

export async function serve(call: ProcessCall, wanted: readonly string[]): Promise<void> {
  const { environment } = call;
  const chosen = await deployables.load(wanted);
  await run(call, {
    name: wanted.join('+'),
    check: () => readAll(...chosen.map((deployable) => () => configOf(environment, deployable))),
    start: async (runtimes) => {
      for (const deployable of chosen) await deployable.start(runtimes.of(deployable.name, environment));
      return undefined;
    },
  });
}

export async function work(call: ProcessCall, name: string, { loop }: { loop?: true }): Promise<void> {
  const { environment } = call;
  const worker = await deployables.loadWorker(name);
  await run(call, {
    name,
    check: () => worker.check?.(environment),
    start: async (runtimes) => {
      const runtime = runtimes.of(name, environment);
      if (!loop) {
        await worker.once(runtime);
        return 'done';
      }
      await worker.start(runtime);
      return undefined;
    },
  });
}
