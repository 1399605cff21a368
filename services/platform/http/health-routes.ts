// The two open routes that every deployable answers for probes.
import { z } from 'zod';
import { type Health, Readiness } from '../health.ts';
import { answer, type AnyRoute, route } from './route.ts';

const Liveness = z.object({ status: z.literal('alive') }).meta({ id: 'Liveness' });

const tag = { name: 'Health', description: 'For probes' };

export const healthRoutes = (health: Health): AnyRoute[] => [
  route({
    method: 'get',
    path: '/health',
    operationId: 'getLiveness',
    tag,
    access: 'open',
    summary: 'Liveness: the process runs; nothing else is asked',
    answers: { 200: Liveness },
    handle: () => ({ status: 'alive' as const }),
  }),
  route({
    method: 'get',
    path: '/health/ready',
    operationId: 'getReadiness',
    tag,
    access: 'open',
    summary: 'Readiness: everything the service cannot answer without',
    answers: { 200: Readiness, 503: Readiness },
    handle: async () => {
      const readiness = await health.readiness();
      return readiness.status === 'ready' ? answer(200, readiness) : answer(503, readiness);
    },
  }),
];
