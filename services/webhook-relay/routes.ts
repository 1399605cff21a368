// The webhook relay's routes: declarations; what they do is in the files they call.
import { z } from 'zod';
import type { BodyMemory } from '../platform/http/body-memory.ts';
import { answer, type AnyRoute, asksDatabase, Content, rawBody, route, tagged } from '../platform/http/route.ts';
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

const reports = { name: 'Reports', description: 'Senders, and the health of the relay' };

export const createRoutes = (parts: RouteParts): AnyRoute[] => [
  ...tagged({ name: 'Deliveries', description: 'Where GitHub, Gitea and Forgejo send their webhooks' }, deliveryRoutes(parts)),
  ...[
    ...tagged({ name: 'Connections', description: 'Connections to message brokers, one of which is active' }, connectionRoutes(parts)),
    ...tagged({ name: 'Usage', description: 'Messages that were published to each broker, by month' }, usageRoutes(parts)),
    ...tagged(reports, [senderRoute(parts)]),
  ].map(asksDatabase),
  ...tagged(reports, reportRoutes(parts)),
];

const forgeHeaders = {
  'X-Hub-Signature-256': {
    description: '`sha256=` and the HMAC-SHA256 of the bytes of the body in hexadecimal, by one of `Forge__WebhookSecrets`; without it 401',
    isRequired: true,
    example: `sha256=${'0123456789abcdef'.repeat(4)}`,
  },
  'X-GitHub-Event': { description: 'The kind of the event; also X-Forge-Event, X-Gitea-Event, X-Forgejo-Event', example: 'issues' },
  'X-GitHub-Delivery': {
    description: "The forge's own id of the delivery; also X-Forge-Delivery, X-Gitea-Delivery, X-Forgejo-Delivery",
    example: '72d3162e-cc78-11e3-81ab-4c9367dc0958',
  },
  'X-GitHub-Hook-ID': { description: 'The webhook; also X-Forge-Hook-ID', example: '292430182' },
  'X-GitHub-Hook-Installation-Target-ID': { description: 'Where it is installed; also X-Forge-Hook-Installation-Target-ID', example: '79929171' },
  'X-GitHub-Hook-Installation-Target-Type': { description: 'What that is; also X-Forge-Hook-Installation-Target-Type', example: 'repository' },
  traceparent: { description: 'W3C trace context, passed on with the message' },
};

const ForgeDelivery = z.looseObject({}).meta({
  id: 'ForgeDelivery',
  description: 'The JSON of the forge, any object',
  examples: [
    {
      action: 'opened',
      issue: { id: 73464126, number: 2, title: 'Spelling error in the README file', state: 'open', user: { login: 'octocat' } },
      repository: { id: 35129377, full_name: 'me/mine' },
      sender: { id: 583231, login: 'octocat', type: 'User' },
    },
  ],
});

const deliveryDescription = `Headers of GitHub, Gitea and Forgejo are taken alike. The signature is over the bytes of the body, so a delivery is best tried in a shell:

\`\`\`sh
body='{"action":"opened"}'
signature=$(printf %s "$body" | openssl dgst -sha256 -hmac "$Forge__WebhookSecrets" | sed 's/^.* //')
curl -H "X-Hub-Signature-256: sha256=$signature" -H 'X-GitHub-Event: issues' -H 'Content-Type: application/json' -d "$body" "$relay/Forge"
\`\`\``;

const deliveryRoutes = ({ deliveries, maxPayloadBytes, bodyMemory }: RouteParts) => [
  route({
    method: 'post',
    path: '/Forge',
    operationId: 'receiveDelivery',
    access: 'checkedByHandler',
    summary: 'Receives a delivery of the forge and publishes it',
    description: deliveryDescription,
    describedHeaders: forgeHeaders,
    describedBody: { 'application/json': ForgeDelivery },
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
    operationId: 'listConnections',
    summary: 'The configured connections, and which is active',
    answers: { 200: ConnectionList },
    handle: () => answerInTime(administration.list()),
  }),
  route({
    method: 'post',
    path: '/Broker/switch/{index}',
    operationId: 'switchConnection',
    summary: 'Makes the connection at this position active',
    params: z.object({ index: z.string().meta({ description: 'Its `index` in the list of connections' }) }),
    answers: { 200: SwitchResult },
    problems: [Problems.connectionMissing],
    handle: ({ params }) => administration.switchTo(params.index),
  }),
  route({
    method: 'post',
    path: '/Broker/reload',
    operationId: 'reloadConnections',
    summary: 'Reads the connections and limits of the environment file again',
    answers: { 200: ReloadResult },
    problems: [Problems.connectionsUnusable],
    handle: () => administration.reload(),
  }),
];

const usageRoutes = (parts: RouteParts) => [...readUsageRoutes(parts), ...deleteUsageRoutes(parts)];

const readUsageRoutes = ({ usage }: RouteParts) => [
  route({
    method: 'get',
    path: '/broker/usage/current',
    operationId: 'getCurrentUsage',
    summary: 'Usage of every broker in the current month',
    answers: { 200: PeriodUsage },
    handle: () => answerInTime(usage.current()),
  }),
  route({
    method: 'get',
    path: '/broker/usage',
    operationId: 'listUsage',
    summary: 'Usage of every broker in every stored month',
    answers: { 200: UsageHistory },
    handle: async () => ({ periods: await answerInTime(usage.history()) }),
  }),
];

const deleteUsageRoutes = ({ usage }: RouteParts) => [
  route({
    method: 'delete',
    path: '/broker/usage',
    operationId: 'deleteUsageBefore',
    summary: 'Deletes usage of the months before one; never that of the current month',
    query: z.object({ olderThan: Period.meta({ description: 'The first month that stays' }) }),
    answers: { 200: Deleted },
    handle: async ({ query }) => ({ deleted: await usage.deleteOlderThan(query.olderThan) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/current/{broker}',
    operationId: 'resetCurrentUsage',
    summary: 'Resets the count of one broker in the current month',
    params: z.object({ broker: BrokerUsage.shape.broker.meta({ description: 'The name of the connection' }) }),
    answers: { 200: Deleted },
    problems: [Problems.connectionMissing],
    handle: async ({ params }) => ({ deleted: await usage.reset(params.broker) }),
  }),
  route({
    method: 'delete',
    path: '/broker/usage/{period}',
    operationId: 'deleteUsageOfMonth',
    summary: 'Deletes usage of one past month',
    params: z.object({ period: Period.meta({ description: 'The month' }) }),
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
    operationId: 'listSenders',
    access: 'open',
    summary: 'Activity of each sender',
    answers: { 200: SenderStatistics },
    handle: async () => new Content('application/json; charset=utf-8', textOfStatistics(await answerInTime(senders.statistics()))),
  });

const reportRoutes = ({ reportHealth }: RouteParts) => [
  route({
    method: 'get',
    path: '/api/health',
    operationId: 'getHealth',
    access: 'open',
    summary: 'Health of the relay and of its broker connections; as one word for Accept: text/plain',
    answers: { 200: HealthReport, 503: HealthReport },
    describedContent: { 'application/json': HealthReport, 'text/plain': HealthReport.shape.status },
    async handle({ headers }) {
      const report = await reportHealth();
      const body = prefersText(headers.accept) ? text(report.status) : report;
      return report.status === 'Unhealthy' ? answer(503, body) : answer(200, body);
    },
  }),
  route({
    method: 'get',
    path: '/',
    operationId: 'getRoot',
    access: 'open',
    summary: 'To the API description',
    answers: { 301: null },
    handle: () => answer(301, null, { Location: '/swagger/index.html' }),
  }),
];
