// A job as the `signalbox` command runs it: once, or again and again.
import type { WriteStream } from 'node:tty';
import { explainDatabase } from '../../platform/postgres/errors.ts';
import { createSchemaCheck, type MigrationSource } from '../../platform/postgres/migrations.ts';
import { createPool, type Pool, requestLimits } from '../../platform/postgres/pool.ts';
import type { Runtime, Worker } from '../../platform/process/deployable.ts';
import type { Log } from '../../platform/log.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { every } from '../../platform/time.ts';
import type { Heartbeat } from './heartbeat.ts';
import { createRunner, type Job, type Runner } from './runner.ts';

/** A batch may take its time. One whose answer is lost on the way, as where a network falls silent, is tried again. */
export const batchPool = { maxConnections: 5, statementMs: 30_000, answerMs: 35_000 };
/** For cleanup and maintenance: whatever they wait for, they end soon after a stop. */
export const upkeepPool = { maxConnections: 5, lockMs: 5000, ...requestLimits };

type RunnerOptions = { readonly migrations: MigrationSource; readonly pool: typeof batchPool };

/** The common parts of every worker: a pool, the state of its schema, and the runner. */
export async function openRunner({ log, metrics, lifecycle, health }: Runtime, databaseUrl: Secret, options: RunnerOptions) {
  const { migrations, pool } = options;
  const database = lifecycle.opened('database', createPool(databaseUrl.reveal(), { ...pool, schema: migrations.schema, log, metrics }));
  const checkSchema = await createSchemaCheck(database, migrations);
  health.addCheck('database', checkSchema);
  return { database, checkSchema, runner: createRunner({ database, log, metrics }) };
}

type JobWorkerParts<Config> = Pick<Worker<Config>, 'summary' | 'read'> & {
  readonly migrations: MigrationSource;
  /** From the end of one run to the next, with `--loop`. */
  readonly everyMs: number;
  /** Told of each attempt, also of one that does not get as far as its run. */
  readonly heartbeat?: (config: Config, log: Log) => Heartbeat;
  readonly create: (parts: { readonly database: Pool; readonly config: Config; readonly runtime: Runtime; readonly terminal?: WriteStream }) => Job;
};

export function createJobWorker<Config extends { readonly databaseUrl: Secret }>(parts: JobWorkerParts<Config>): Worker<Config> {
  const { summary, read, migrations, everyMs, create, heartbeat = () => (attempt) => attempt() } = parts;
  async function open(runtime: Runtime, config: Config, more: { readonly terminal?: WriteStream } = {}) {
    const { database, runner } = await openRunner(runtime, config.databaseUrl, { migrations, pool: upkeepPool });
    const job = create({ database, config, runtime, ...more });
    return { runner, job };
  }
  return {
    summary,
    read,
    async start(runtime, config) {
      const { log, lifecycle } = runtime;
      const { runner, job } = await open(runtime, config);
      const beat = heartbeat(config, log);
      // A run elsewhere is left to its process.
      const attempt = () =>
        beat(() => runner.run(job, lifecycle.stopping), lifecycle.stopping).then(
          () => undefined,
          (error: unknown) => log.debug({ worker: job.name, error }, 'run failed, the next one is at its time'),
        );
      const running = every(everyMs, lifecycle.stopping, attempt);
      lifecycle.onStop(`worker ${job.name}`, () => running);
    },
    async once(runtime, config) {
      const { runner, job } = await open(runtime, config, { terminal: process.stderr });
      const attempt = () => runner.run(job, runtime.lifecycle.stopping);
      await finish(runtime, job, heartbeat(config, runtime.log)(attempt, runtime.lifecycle.stopping)).catch(explainDatabase);
    },
  };
}

export const runOnce = (runtime: Runtime, runner: Runner, job: Job) => finish(runtime, job, runner.run(job, runtime.lifecycle.stopping));

/** @param running false when the job runs already and may not twice @throws what the run threw, and when it did not run */
async function finish({ lifecycle }: Runtime, job: Job, running: Promise<boolean>): Promise<void> {
  const ignore = () => undefined;
  // A run that is stopped stores its work in hand, and ends before its pool does; its failure reaches the caller below.
  lifecycle.onStop(`run of ${job.name}`, () => running.then(ignore, ignore));
  if (!(await running)) throw new Error(`${job.name} is running already in another process`);
}
