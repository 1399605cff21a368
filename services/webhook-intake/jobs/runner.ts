// The one way a worker runs: its record from beginning to end, and one run at a time where there must not be two.
import { v7 as uuidv7 } from 'uuid';
import { describeError } from '../../platform/errors.ts';
import { storable } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { every, withTimeout } from '../../platform/time.ts';
import type { JobName, WorkerRun } from '../contract.ts';
import { createRunStore } from './store.ts';

/** The progress of a run: the job counts, the record shows it. */
export type Counts = { processed: number; failed: number };

export type Job = {
  readonly name: JobName;
  /** One run at a time, whichever process it is in. */
  readonly isExclusive: boolean;
  /** Stores more of an accepted run beside its record, before the answer. */
  readonly prepare?: (runId: string) => Promise<void>;
  /** Ends soon after `stopping` is aborted. @throws when the run failed */
  readonly run: (run: { readonly counts: Counts; readonly stopping: AbortSignal }) => Promise<void>;
};

/** Thrown by a run that is stopped before it is done. */
export class Stopped extends Error {
  constructor() {
    super('stopped before it was done');
  }
}

type RunnerParts = {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock?: () => Date;
  /** A run whose process has not renewed it for so long has failed. */
  readonly leaseMs?: number;
};

const usualLeaseMs = 60_000;
/** The last word of a run that ends while its database is away; others find its lease over. */
const lastSaveMs = 5000;
const mostErrorLength = 2000;
const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];

export type Runner = ReturnType<typeof createRunner>;

export function createRunner({ database, log, metrics, clock = () => new Date(), leaseMs = usualLeaseMs }: RunnerParts) {
  const store = createRunStore(database);
  const inWork = new Map<Promise<unknown>, JobName>();
  const durations = metrics.histogram({
    name: 'signalbox_worker_run_seconds',
    help: 'Runs of a worker in this process, by outcome and by how long they took.',
    labels: ['worker', 'outcome'],
    buckets,
  });

  /** Undefined when it is exclusive and held elsewhere. */
  const locked = <T>({ name, isExclusive }: Job, work: () => Promise<T>) =>
    isExclusive ? database.whileLocked(`signalbox.intake.worker.${name}`, work) : work();

  const save = (run: WorkerRun) =>
    store.save(run, leaseMs).then(
      () => undefined,
      (error: unknown) => log.warn({ worker: run.worker, runId: run.runId, error }, 'recording the run of a worker failed'),
    );

  async function perform(job: Job, accepted: WorkerRun, stopping: AbortSignal): Promise<void> {
    const { runId, worker } = accepted;
    const counts: Counts = { processed: 0, failed: 0 };
    const startedAt = clock();
    const ended = new AbortController();
    const renewing = every(leaseMs / 3, ended.signal, () => save({ ...accepted, ...counts, status: 'running', startedAt }));
    const failure = await job.run({ counts, stopping }).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    ended.abort();
    const status = failure ? 'failed' : 'succeeded';
    const error = failure ? storable(describeError(failure.error)).slice(0, mostErrorLength) : null;
    const saved = renewing.then(() => save({ ...accepted, ...counts, status, startedAt, finishedAt: clock(), error }));
    await withTimeout(saved, lastSaveMs, () => undefined);
    const seconds = (clock().getTime() - startedAt.getTime()) / 1000;
    durations.observe({ worker, outcome: status }, seconds);
    if (failure?.error instanceof Stopped) log.info({ worker, runId, seconds, ...counts }, 'run of the worker stopped before it was done');
    else log[failure ? 'warn' : 'info']({ worker, runId, seconds, ...counts, ...failure }, `run of the worker ${status}`);
    if (failure) throw failure.error;
  }

  const acceptedRun = ({ name }: Job): WorkerRun => {
    const runId = uuidv7({ msecs: clock().getTime() });
    return { runId, worker: name, status: 'accepted', startedAt: null, finishedAt: null, processed: 0, failed: 0, error: null };
  };

  return {
    /** Runs it to its end. @returns false when it is running already and may not twice @throws what the run threw */
    async run(job: Job, stopping: AbortSignal): Promise<boolean> {
      const done = await locked(job, async () => {
        await perform(job, acceptedRun(job), stopping);
        return true;
      });
      return done ?? false;
    },

    /** @returns the record of a run that goes on; undefined when it is running already and may not twice */
    accept(job: Job, stopping: AbortSignal): Promise<WorkerRun | undefined> {
      const accepted = Promise.withResolvers<WorkerRun | undefined>();
      const running = locked(job, async () => {
        const run = acceptedRun(job);
        await store.save(run, leaseMs);
        await job.prepare?.(run.runId);
        accepted.resolve(run);
        await perform(job, run, stopping);
      })
        // A failure of the run itself is in its record and in the log.
        .then(() => accepted.resolve(undefined), accepted.reject)
        .finally(() => inWork.delete(running));
      inWork.set(running, job.name);
      return accepted.promise;
    },

    /** The workers of accepted runs that have not ended. */
    get inWork(): readonly JobName[] {
      return [...inWork.values()];
    },
    /** When all that were accepted have ended. */
    ended: () => Promise.all(inWork.keys()).then(() => undefined),
  };
}
