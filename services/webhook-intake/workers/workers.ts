// What the API says of workers and does with them.
import { Common } from '../../platform/problem.ts';
import { isGuid } from '../../platform/schema.ts';
import { type AcceptedRun, Problems, type WorkerRun, type WorkerState } from '../contract.ts';
import type { Job, Runner } from './runner.ts';
import type { RunStore } from './store.ts';

/** Each holds connections to the brokers and what it is at in memory. */
const mostRuns = 8;

export type Workers = ReturnType<typeof createWorkers>;

type WorkersParts = { readonly store: RunStore; readonly runner: Runner; readonly jobs: readonly Job[]; readonly stopping: AbortSignal };

export const createWorkers = ({ store, runner, jobs, stopping }: WorkersParts) => ({
  async states(): Promise<{ items: WorkerState[]; next: null }> {
    return { items: await store.states(), next: null };
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
    if (runner.inWork >= mostRuns) throw Common.unavailable({ detail: 'Too many runs at once.', headers: { 'Retry-After': '60' } });
    const run = await runner.accept(job, stopping);
    if (!run) throw Problems.workerRunning();
    return { runId: run.runId, worker: run.worker, status: 'accepted' };
  },
});
