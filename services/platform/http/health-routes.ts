// The two open routes that every deployable answers for probes.
import { z } from 'zod';
import { type Health, Readiness } from '../health.ts';
import { answer, type AnyRoute, route } from './route.ts';

const Liveness = z
  .object({ status: z.literal('alive').meta({ description: 'The process runs' }) })
  .meta({ id: 'Liveness', description: 'The process answers.' });

const tag = { name: 'Health', description: 'Probes of load balancers and orchestrators' };

export const healthRoutes = (health: Health): AnyRoute[] => [
  route({
    method: 'get',
    path: '/health',
    operationId: 'getLiveness',
    tag,
    access: 'open',
    summary: 'Liveness: the process runs',
    description: 'Answers while the process runs, and asks no other server. An orchestrator restarts the process when it does not answer.',
    answers: { 200: Liveness },
    handle: () => ({ status: 'alive' as const }),
  }),
  route({
    method: 'get',
    path: '/health/ready',
    operationId: 'getReadiness',
    tag,
    access: 'open',
    summary: 'Readiness: the service can answer',
    description: 'Checks everything that the service cannot answer without. 503 while a check fails, and from the moment the process begins to stop.',
    answers: { 200: Readiness, 503: Readiness },
    handle: async () => {
      const readiness = await health.readiness();
      return readiness.status === 'ready' ? answer(200, readiness) : answer(503, readiness);
    },
  }),
];
