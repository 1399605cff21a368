// Workers and their runs as the API shows and starts them: routes and rules.
import { z } from 'zod';
import { answer, type AnyRoute, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { isGuid, queryChoice } from '../../platform/schema.ts';
import { AcceptedRun, JobName, listOf, Problems, RunStatus, WorkerRun, WorkerState } from '../contract.ts';
import { idPage, pageOf } from '../paging.ts';
import type { Job, Runner } from './runner.ts';
import type { RunStore } from './store.ts';

/** Each holds connections to the brokers and what it is at in memory. */
const mostRuns = 8;

export type Workers = ReturnType<typeof createWorkers>;

const runsList = 'workers/runs';
const RunQuery = z.object({
  worker: queryChoice(JobName).optional().meta({ description: 'Runs of this worker only, or `replay`' }),
  status: queryChoice(RunStatus).optional().meta({ description: 'Runs of this status only' }),
  ...idPage(runsList),
});
type RunQuery = z.output<typeof RunQuery>;

type WorkersParts = { readonly store: RunStore; readonly runner: Runner; readonly jobs: readonly Job[]; readonly stopping: AbortSignal };

export const createWorkers = ({ store, runner, jobs, stopping }: WorkersParts) => ({
  async states(): Promise<{ items: WorkerState[]; next: null }> {
    return { items: await store.states(), next: null };
  },

  /** How many workers have failed in their last run. */
  failed: async () => (await store.last()).filter(({ isFailed }) => isFailed).length,

  async runs({ limit, after, ...filter }: RunQuery) {
    const rows = await store.list(filter, { rows: limit + 1, after: after?.[0] });
    return pageOf(runsList, { rows, limit }, ({ runId }) => [runId]);
  },

  async run(runId: string): Promise<WorkerRun> {
    const run = isGuid(runId) ? await store.find(runId) : undefined;
    if (!run) throw Problems.runMissing();
    return run;
  },

  /** Begins a run in this process. */
  async start(name: string): Promise<AcceptedRun> {
    const job = jobs.find((one) => one.name === name);
    if (!job) throw Problems.workerMissing({ detail: `There are ${jobs.map((one) => one.name).join(', ')}.` });
    // Before the number of runs, which attempts at one that is running already would use up.
    if (job.isExclusive && runner.inWork.includes(job.name)) throw Problems.workerRunning();
    if (runner.inWork.length >= mostRuns) throw Common.unavailable({ detail: 'Too many runs at once.', headers: { 'Retry-After': '60' } });
    const run = await runner.accept(job, stopping);
    if (!run) throw Problems.workerRunning();
    return { runId: run.runId, worker: run.worker, status: 'accepted' };
  },
});

export const workerRoutes = (workers: Workers): AnyRoute[] => [...readRoutes(workers), startRoute(workers)];

const readRoutes = (workers: Workers) => [
  route({
    method: 'get',
    path: '/api/v1/workers',
    operationId: 'listWorkers',
    summary: 'The workers, how many runs of each are under way, and its newest run',
    description: 'The four workers in a fixed order. A worker that stays is one long run.',
    answers: { 200: listOf(WorkerState) },
    handle: () => workers.states(),
  }),
  route({
    method: 'get',
    path: '/api/v1/workers/runs',
    operationId: 'listWorkerRuns',
    summary: 'Runs of workers and replays, the newest first',
    description: 'Every run has a record, however it was started.',
    query: RunQuery,
    answers: { 200: listOf(WorkerRun) },
    handle: ({ query }) => workers.runs(query),
  }),
  route({
    method: 'get',
    path: '/api/v1/workers/runs/{runId}',
    operationId: 'getWorkerRun',
    summary: 'The outcome of a run',
    description: 'The record of a run, whichever process it is in.',
    params: z.object({ runId: z.string().meta({ description: 'The `runId` of the answer that accepted it' }) }),
    answers: { 200: WorkerRun },
    problems: [Problems.runMissing],
    handle: ({ params }) => workers.run(params.runId),
  }),
];

const startRoute = (workers: Workers) =>
  route({
    method: 'post',
    path: '/api/v1/workers/{name}/run',
    operationId: 'startWorkerRun',
    describedAnswerHeaders: { 202: { Location: 'The URL of the run' } },
    summary: 'Begins one run of a worker: service, database-service, cleanup or maintenance; of the last two one at a time',
    description:
      'The run goes on after the answer; `Location` is its record. `service` and `database-service` work until their queue is empty, at most 5 minutes.',
    params: z.object({ name: z.string().meta({ description: 'service, database-service, cleanup or maintenance' }) }),
    answers: { 202: AcceptedRun },
    problems: [Problems.workerMissing, Problems.workerRunning],
    handle: async ({ params }) => {
      const run = await workers.start(params.name);
      return answer(202, run, { Location: `/api/v1/workers/runs/${run.runId}` });
    },
  });
