// The routes of workers: declarations; what they do is in workers.ts.
import { z } from 'zod';
import { answer, type AnyRoute, route } from '../../platform/http/route.ts';
import { Common } from '../../platform/problem.ts';
import { AcceptedRun, listOf, Problems, WorkerRun, WorkerState } from '../contract.ts';
import type { Workers } from './workers.ts';

export const createWorkerRoutes = (workers: Workers): AnyRoute[] => [
  route({
    method: 'get',
    path: '/api/v1/workers',
    operationId: 'listWorkers',
    summary: 'The workers, how many runs of each are under way, and its newest run',
    answers: { 200: listOf(WorkerState) },
    problems: [Common.unavailable],
    handle: () => workers.states(),
  }),
  route({
    method: 'get',
    path: '/api/v1/workers/runs/{runId}',
    operationId: 'getWorkerRun',
    summary: 'What became of a run',
    params: z.object({ runId: z.string().meta({ description: 'The `runId` of the answer that accepted it' }) }),
    answers: { 200: WorkerRun },
    problems: [Problems.runMissing, Common.unavailable],
    handle: ({ params }) => workers.run(params.runId),
  }),
  route({
    method: 'post',
    path: '/api/v1/workers/{name}/run',
    operationId: 'startWorkerRun',
    summary: 'Begins one run of a worker: service, database-service, cleanup or maintenance; of the last two one at a time',
    params: z.object({ name: z.string().meta({ description: 'service, database-service, cleanup or maintenance' }) }),
    answers: { 202: AcceptedRun },
    problems: [Problems.workerMissing, Problems.workerRunning, Common.unavailable],
    handle: async ({ params }) => {
      const run = await workers.start(params.name);
      return answer(202, run, { Location: `/api/v1/workers/runs/${run.runId}` });
    },
  }),
];
