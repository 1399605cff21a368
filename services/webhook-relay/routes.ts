// The webhook relay's routes: declarations; what they do is in the files they call.
import { z } from 'zod';
import type { BodyMemory } from '../platform/http/body-memory.ts';
import { answer, type AnyRoute, asksDatabase, Content, rawBody, route } from '../platform/http/route.ts';
import { answerInTime } from './database.ts';
import type { Administration } from './connections/administration.ts';
import {
  BrokerUsage,
  ConnectionList,
  Deleted,
  DeliveryResponse,
  HealthReport,
  Period,
  PeriodUsage,
  Problems,
  ReloadResult,
  SenderStatistics,
  SwitchResult,
  UsageHistory,
} from './contract.ts';
import { budgetMs, type Deliveries } from './deliveries.ts';
import { prefersText, type ReportHealth } from './health.ts';
import type { Senders } from './senders/senders.ts';
import type { Usage } from './usage/usage.ts';

type RouteParts = {
  readonly deliveries: Deliveries;
  readonly administration: Administration;
  readonly usage: Usage;
  readonly senders: Pick<Senders, 'statistics'>;
  readonly reportHealth: ReportHealth;
  readonly maxPayloadBytes: number;
  readonly bodyMemory: BodyMemory;
};

// Of the budget: what a body waits for memory at most, and when it must have arrived; the rest is for publishing.
const memoryWaitMs = budgetMs / 2;
const bodyMs = budgetMs * 0.75;

const text = (body: string) => new Content('text/plain; charset=utf-8', body);

export const createRoutes = (parts: RouteParts): AnyRoute[] => [
  ...deliveryRoutes(parts),
  ...[...connectionRoutes(parts), ...usageRoutes(parts), senderRoute(parts)].map(asksDatabase),
  ...reportRoutes(parts),
];

const forgeHeaders = {
  'X-Hub-Signature-256': '`sha256=` and the HMAC of the body in hexadecimal, by one of the webhook secrets; without it 401',
  'X-GitHub-Event': 'The kind of the event; also X-Forge-Event, X-Gitea-Event, X-Forgejo-Event',
  'X-GitHub-Delivery': "The forge's own id of the delivery; also X-Forge-Delivery, X-Gitea-Delivery, X-Forgejo-Delivery",
  'X-GitHub-Hook-ID': 'The webhook; also X-Forge-Hook-ID',
  'X-GitHub-Hook-Installation-Target-ID': 'Where it is installed; also X-Forge-Hook-Installation-Target-ID',
  'X-GitHub-Hook-Installation-Target-Type': 'What that is; also X-Forge-Hook-Installation-Target-Type',
  traceparent: 'W3C trace context, passed on with the message',
};

const deliveryRoutes = ({ deliveries, maxPayloadBytes, bodyMemory }: RouteParts) => [
  route({
    method: 'post',
    path: '/Forge',
    access: 'checkedByHandler',
    summary: 'Receives a delivery of the forge and publishes it',
    describedHeaders: forgeHeaders,
    body: rawBody({ mediaTypes: ['application/json'], maxBytes: maxPayloadBytes, timeoutMs: bodyMs, memory: { shared: bodyMemory, waitMs: memoryWaitMs } }),
    answers: { 202: DeliveryResponse, 401: DeliveryResponse },
    problems: [Problems.notPublished, Problems.limitsReached],
    async handle(request) {
      const response = await deliveries.receive(request);
      return response.isSignatureValid ? answer(202, response) : answer(401, response, { 'WWW-Authenticate': 'X-Hub-Signature-256' });
    },
  }),
];

const connectionRoutes = ({ administration }: RouteParts) => [
  route({
    method: 'get',
    path: '/Broker/connections',
    summary: 'The configured connections, and which is active',
    answers: { 200: ConnectionList },
    handle: () => answerInTime(administration.list()),
  }),
  route({
    method: 'post',
    path: '/Broker/switch/{index}',
    summary: 'Makes the connection at this position active',
    params: z.object({ index: z.string() }),
    answers: { 200: SwitchResult },
    problems: [Problems.connectionMissing],
    handle: ({ params }) => administration.switchTo(params.index),
  }),
  route({
    method: 'post',
    path: '/Broker/reload',
    summary: 'Reads the connections and limits of the environment file again',
    answers: { 200: ReloadResult },
    problems: [Problems.connectionsUnusable],
    handle: () => administration.reload(),
  }),
];

const usageRoutes = ({ usage }: RouteParts) => [
  route({
    method: 'get',
    path: '/broker/usage/current',
    summary: 'Usage of every broker in the current month',
    answers: { 200: PeriodUsage },
    handle: () => answerInTime(usage.current()),
  }),
  route({
    method: 'get',
    path: '/broker/usage',
    summary: 'Usage of every broker in every stored month',
    answers: { 200: UsageHistory },
    handle: async () => ({ periods: await answerInTime(usage.history()) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage',
    summary: 'Deletes usage of the months before one; never that of the current month',
    query: z.object({ olderThan: Period }),
    answers: { 200: Deleted },
    handle: async ({ query }) => ({ deleted: await usage.deleteOlderThan(query.olderThan) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/current/{broker}',
    summary: 'Resets the count of one broker in the current month',
    params: z.object({ broker: BrokerUsage.shape.broker }),
    answers: { 200: Deleted },
    problems: [Problems.connectionMissing],
    handle: async ({ params }) => ({ deleted: await usage.reset(params.broker) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/{period}',
    summary: 'Deletes usage of one past month',
    params: z.object({ period: Period }),
    answers: { 200: Deleted },
    problems: [Problems.currentPeriod],
    handle: async ({ params }) => ({ deleted: await usage.deletePeriod(params.period) }),
  }),
];

/** Up to 2 MB: those who ask at once and do not read share one text. */
const statisticsTexts = new WeakMap<SenderStatistics, Buffer>();

function textOfStatistics(statistics: SenderStatistics): Buffer {
  const bytes = statisticsTexts.get(statistics) ?? Buffer.from(JSON.stringify(statistics));
  statisticsTexts.set(statistics, bytes);
  return bytes;
}

const senderRoute = ({ senders }: RouteParts) =>
  route({
    method: 'get',
    path: '/Stats',
    access: 'open',
    summary: 'Activity of each sender',
    answers: { 200: SenderStatistics },
    handle: async () => new Content('application/json; charset=utf-8', textOfStatistics(await answerInTime(senders.statistics()))),
  });

const reportRoutes = ({ reportHealth }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/health',
    access: 'open',
    summary: 'Health of the relay and of its broker connections; as one word for `Accept: text/plain`',
    answers: { 200: HealthReport, 503: HealthReport },
    describedMediaTypes: ['text/plain'],
    async handle({ headers }) {
      const report = await reportHealth();
      const body = prefersText(headers.accept) ? text(report.status) : report;
      return report.status === 'Unhealthy' ? answer(503, body) : answer(200, body);
    },
  }),
  route({
    method: 'get',
    path: '/',
    access: 'open',
    summary: 'To the API description',
    answers: { 301: null },
    handle: () => answer(301, null, { Location: '/swagger/index.html' }),
  }),
];
