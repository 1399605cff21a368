// The two open routes that every service answers: is the process alive, may it get traffic.
import { z } from 'zod';
import type { Health } from './health.ts';
import { answer, type AnyRoute, route } from './route.ts';

const CheckResult = z.object({ ok: z.boolean(), detail: z.string().optional() });
const Readiness = z.object({ status: z.enum(['ready', 'unready']), checks: z.record(z.string(), CheckResult) });

const livenessPath = '/health';
const readinessPath = '/health/ready';

/** Asked by whoever watches the process, not by those whom it serves. */
export const isProbe = ({ path }: { readonly path: string }): boolean => path === livenessPath || path === readinessPath;

export const healthRoutes = (health: Health): AnyRoute[] => [
  route({
    method: 'get',
    path: livenessPath,
    access: 'open',
    summary: 'Liveness: the process runs; nothing else is asked',
    answers: { 200: z.object({ status: z.literal('alive') }) },
    handle: () => ({ status: 'alive' as const }),
  }),
  route({
    method: 'get',
    path: readinessPath,
    access: 'open',
    summary: 'Readiness: everything the service cannot answer without',
    answers: { 200: Readiness, 503: Readiness },
    handle: async () => {
      const readiness = await health.readiness();
      return readiness.status === 'ready' ? answer(200, readiness) : answer(503, readiness);
    },
  }),
];
