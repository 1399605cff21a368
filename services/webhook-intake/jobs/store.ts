// The records of runs.
import { MAX } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { type JobName, type RunStatus, type WorkerName, workerNames, type WorkerRun, type WorkerState } from '../contract.ts';
import { type IdPage, newestById } from '../dashboard/newest.ts';

const columns = `id as "runId", worker, status, started_at as "startedAt", finished_at as "finishedAt", processed, failed, error`;

type RunValues = [
  runId: string,
  worker: string,
  status: string,
  startedAt: Date | null,
  finishedAt: Date | null,
  processed: number,
  failed: number,
  error: string | null,
  leaseMs: number,
];

// Written whole each time: one that could not be written, while the database was away, is there with the next renewal.
const save = statement<unknown, RunValues>(
  'intake.run.save',
  `
  insert into worker_runs (id, worker, status, started_at, finished_at, processed, failed, error, held_until)
  values ($1, $2, $3, $4, $5, $6, $7, $8, case when $5::timestamptz is null then now() + $9 * interval '1 millisecond' end)
  on conflict (id) do update set status = excluded.status, started_at = excluded.started_at, finished_at = excluded.finished_at,
    processed = excluded.processed, failed = excluded.failed, error = excluded.error, held_until = excluded.held_until`,
);

const failStale = statement<unknown>(
  'intake.run.failStale',
  `
  update worker_runs set status = 'failed', finished_at = held_until, held_until = null, error = 'its process ended before it did'
  where held_until < now()`,
);

const byId = statement<WorkerRun, [id: string]>('intake.run.find', `select ${columns} from worker_runs where id = $1`);

/** Bounds instead of an equality, and the worker in the order: left the choice, Postgres looks through the runs of all workers for one that has none. */
const ofGiven = `worker >= given.name and (worker, id) <= (given.name, '${MAX}')`;
const newestFirst = 'order by worker desc, id desc';

const newest = statement<WorkerRun, [workers: readonly string[]]>(
  'intake.run.newest',
  `
  select run.* from unnest($1::text[]) as given (name)
  cross join lateral (select ${columns} from worker_runs where ${ofGiven} ${newestFirst} limit 1) run`,
);

const running = statement<{ worker: WorkerName; running: number }>(
  'intake.run.running',
  `
  select worker, count(*) as running from worker_runs where held_until > now() group by worker`,
);

export type LastRuns = {
  readonly worker: WorkerName;
  readonly isFailed: boolean;
  readonly seconds: number;
  /** Unix time; null when none did. */
  readonly lastSuccessAt: number | null;
};

const lastRuns = statement<LastRuns, [workers: readonly string[]]>(
  'intake.run.last',
  `
  select given.name as worker, run.status = 'failed' and not exists (
      select from worker_runs where ${ofGiven} and held_until > now() and started_at < now() - interval '10 minutes'
    ) as "isFailed", extract(epoch from run.finished_at - run.started_at)::float8 as seconds,
    (select extract(epoch from finished_at)::float8 from worker_runs where ${ofGiven} and status = 'succeeded' ${newestFirst} limit 1) as "lastSuccessAt"
  from unnest($1::text[]) as given (name)
  cross join lateral (
    select status, started_at, finished_at from worker_runs
    where ${ofGiven} and held_until is null and started_at is not null ${newestFirst} limit 1
  ) run`,
);

export type RunFilter = { readonly worker?: JobName | undefined; readonly status?: RunStatus | undefined };
export type RunStore = ReturnType<typeof createRunStore>;

export const createRunStore = (database: Database) => ({
  /** @param leaseMs by when it is renewed, or has failed */
  save: (run: WorkerRun, leaseMs: number) =>
    database.run(save, run.runId, run.worker, run.status, run.startedAt, run.finishedAt, run.processed, run.failed, run.error, leaseMs),
  /** Runs whose process was killed. @returns how many */
  failStale: () => database.run(failStale),
  find: (id: string) => database.first(byId, id),
  /** The newest first. */
  list: (filter: RunFilter, page: IdPage) => newestById<WorkerRun>(database, { table: 'worker_runs', columns, equal: { ...filter } }, page),
  /** The state of every worker, in a fixed order. */
  async states(): Promise<WorkerState[]> {
    const [runs, counts] = [await database.all(newest, workerNames), await database.all(running)];
    return workerNames.map((worker) => ({
      worker,
      running: counts.find((one) => one.worker === worker)?.running ?? 0,
      lastRun: runs.find((one) => one.worker === worker) ?? null,
    }));
  },
  /** The last run of each worker that has ended. A run that goes on for ten minutes makes up for a failed one: that of a queue worker may go on for weeks. */
  last: () => database.all(lastRuns, workerNames),
});
