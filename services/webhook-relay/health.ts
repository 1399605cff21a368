// Health of the relay: what GET /api/health answers, and its checks for readiness.
import { once } from 'node:events';
import type { Check, CheckResult } from '../platform/health.ts';
import { answer, Content, route } from '../platform/http/route.ts';
import { version } from '../platform/version.ts';
import type { Connections } from './connections/connections.ts';
import { HealthReport } from './contract.ts';
import type { DatabaseState } from './database.ts';
import type { Usage } from './usage/usage.ts';

export type ReportHealth = ReturnType<typeof createHealthReport>;

export const createHealthReport = (connections: Connections, usage: Usage, database: DatabaseState) => async (): Promise<HealthReport> => {
  const { active, brokers: usages } = await usage.recent();
  const brokers = connections.all.map(({ target: { name }, isUsable }) => ({
    broker: name,
    isActive: name === active,
    isConnected: isUsable,
    limitReached: usages.some(({ broker, limitReached }) => broker === name && limitReached),
  }));
  const isDatabaseReachable = database.isUp;
  return { status: judge(brokers, isDatabaseReachable), version, brokers, isDatabaseReachable };
};

function judge(brokers: HealthReport['brokers'], isDatabaseReachable: boolean): HealthReport['status'] {
  const usable = brokers.filter(({ isConnected, limitReached }) => isConnected && !limitReached);
  if (usable.length === 0) return 'Unhealthy';
  return usable.length === brokers.length && isDatabaseReachable ? 'Healthy' : 'Degraded';
}

const described = { Vary: '`Accept`: it chooses JSON or one word' };
const varies = { Vary: 'Accept' };

export const reportRoutes = (reportHealth: ReportHealth) => [
  route({
    method: 'get',
    path: '/api/health',
    operationId: 'getHealth',
    access: 'open',
    summary: 'Shows the health of the relay',
    description: 'The answer is one word for `Accept: text/plain`. It is 503 when no connection is reachable and below its limit.',
    answers: { 200: HealthReport, 503: HealthReport },
    describedContent: { 'application/json': HealthReport, 'text/plain': HealthReport.shape.status },
    describedAnswerHeaders: { 200: described, 503: described },
    async handle({ accepts }) {
      const report = await reportHealth();
      const body = accepts('application/json', 'text/plain') === 'text/plain' ? new Content('text/plain; charset=utf-8', report.status) : report;
      return report.status === 'Unhealthy' ? answer(503, body, varies) : answer(200, body, varies);
    },
  }),
  route({
    method: 'get',
    path: '/',
    operationId: 'getRoot',
    access: 'open',
    summary: 'Leads to the API description',
    description: 'A browser that opens the address of the relay sees its API.',
    answers: { 301: null },
    handle: () => answer(301, null, { Location: '/swagger/index.html' }),
  }),
];

// A relay is needed most while others are down, so its readiness waits for them at the start only.

/** Passes once each connection stands or had its time. `over` resolves then, or when the process stops. */
export function awaitBrokers(connections: Connections, stopping: AbortSignal): { readonly check: Check; readonly over: Promise<void> } {
  let isOver = false;
  const stopped = once(stopping, 'abort');
  const ready = Promise.all(connections.all.map(({ connecting }) => connecting));
  const over = Promise.race([ready, stopped]).then(() => void (isOver = true));
  return { over, check: () => (isOver ? { ok: true } : { ok: false, detail: 'connecting' }) };
}

/** Asked until it has passed once. */
export function passedOnce(check: Check): Check {
  let last: CheckResult = { ok: false };
  return async () => (last.ok ? last : (last = await check()));
}
