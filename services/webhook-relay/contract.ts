// The wire contract of the webhook relay: with its clients, and with the consumers of its messages.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';

/** Exchanges and queues on every broker connection; the platform declares them on connect. */
export const forgeTopology = {
  exchange: 'forge-exchange',
  queues: [
    { name: 'forge', prioritised: true, retryDelaysMs: [1_000, 10_000] },
    { name: 'forge-database', prioritised: true, retryDelaysMs: [1_000, 10_000] },
  ],
  deadLetters: { exchange: 'forge-dead-exchange', queue: 'forge.dead' },
} as const;

/** All of them, with that of dead letters. */
export const queueNames = [...forgeTopology.queues.map(({ name }) => name), forgeTopology.deadLetters.queue];

/** The most values of a delivery that the relay takes and its readers parse, unless a setting says otherwise. */
export const usualMaxPayloadValues = 1_200_000;

/** Headers of a published message; `traceparent` (W3C) comes beside them. Times are ISO 8601 UTC with milliseconds. */
export const messageHeaders = {
  deliveryId: 'x-delivery-id',
  hookId: 'x-hook-id',
  targetId: 'x-target-id',
  targetType: 'x-target-type',
  /** `github`, `gitea` or `forgejo`. */
  forge: 'x-forge',
  /** The host of the forge, within which its ids count; its kind where nothing tells the host. */
  forgeId: 'x-forge-id',
  /** Event and action in GitHub's words. */
  event: 'x-event',
  action: 'x-action',
  /** Event and action in the forge's own words. */
  originalEvent: 'x-original-event',
  originalAction: 'x-original-action',
  sender: 'x-sender',
  /** owner, person, bot or own-bot. */
  senderClass: 'x-sender-class',
  /** true or false. */
  isCoreFunction: 'x-core-function',
  installationId: 'x-installation-id',
  receivedAt: 'x-received-at',
  relayVersion: 'x-relay-version',
  scoreDescription: 'x-score-description',
} as const;

const exampleId = '019b76da-a800-7000-8000-5f3c1e2d4a6b';
const examplePriority = {
  eventType: 'issues',
  action: 'opened',
  senderLogin: 'octocat',
  baseScore: 6,
  actionModifier: 1,
  baseCalculatedScore: 7,
  senderMultiplier: 1,
  finalScore: 7,
  description: 'issues: base 6, opened +1, person ×1',
  isCoreFunction: true,
};

const text = (description: string) => z.string().meta({ description });
const number = (description: string) => z.number().meta({ description });
const flag = (description: string) => z.boolean().meta({ description });
const messages = (description: string) => Count.meta({ override: { format: 'int64' }, description });

export const Priority = z
  .object({
    eventType: text("The event in GitHub's word, also for other forges"),
    action: text("The action in GitHub's word; empty when the payload names none"),
    senderLogin: text('The login of the sender; empty when the payload names none'),
    baseScore: number('The points of the event'),
    actionModifier: number('The points of the action and of the hints in the payload, added to the base'),
    baseCalculatedScore: number('Base and modifier together, at least 1 and at most 10'),
    senderMultiplier: number("The factor of the sender's class and frequency, from 0.3 to 1.2 with two decimals"),
    finalScore: z.int().min(1).max(10).meta({ description: 'The score from 1 to 10: the priority of the message' }),
    description: text('The score in words'),
    isCoreFunction: flag('Whether the event is one of the core functions, which have a lowest score'),
  })
  .meta({ id: 'Priority', description: 'How the delivery was scored', examples: [examplePriority] });
export type Priority = z.output<typeof Priority>;

/** Members are only ever added to it. */
export const DeliveryResponse = z
  .object({
    id: z.uuid().meta({ description: "The relay's own id of the delivery, and the id of its message" }),
    time: z
      .int()
      .min(0)
      .meta({ override: { format: 'int64' }, description: 'When the delivery came, in seconds since 1970' }),
    isSignatureValid: flag('Whether the signature is right: true with 202, false with 401'),
    priority: Priority,
    broker: text('The connection that confirmed the message; with 401 the active connection'),
    version: text('The version of Signalbox'),
    detail: z.string().optional().meta({ description: 'With 401, the fault of the signature and its remedy' }),
  })
  .meta({
    id: 'DeliveryResponse',
    description: 'The answer to a delivery, with 202 and with 401',
    examples: [{ id: exampleId, time: 1773576000, isSignatureValid: true, priority: examplePriority, broker: 'BROKER_URL_1', version: '0.1.0' }],
  });
export type DeliveryResponse = z.output<typeof DeliveryResponse>;

const Index = z.int().min(1).meta({ description: 'The position of the connection, from 1, by ascending number of BROKER_URL_n' });
const Name = text('The name of the connection: its setting');

/** The place of a broker, without user and password. */
const address = {
  name: Name,
  scheme: text('The scheme of the URL: amqp, amqps, postgres or postgresql'),
  host: text('The host of the URL'),
  port: z.int().min(1).max(65_535).meta({ description: 'The port of the URL, or the usual one of the scheme' }),
  virtualHost: text('The virtual host of RabbitMQ, or the database of Postgres'),
};
const exampleAddress = { name: 'BROKER_URL_1', scheme: 'amqps', host: 'rabbitmq', port: 5671, virtualHost: '/' };

const usage = {
  monthlyLimit: messages('The messages that the connection may publish in a calendar month (UTC)'),
  messageCount: messages('The messages that are reserved or published in the month'),
  remaining: messages('The messages that may still be published in the month'),
  limitReached: flag('Whether nothing remains'),
};
const exampleUsage = { monthlyLimit: 2_000_000, messageCount: 1234, remaining: 1_998_766, limitReached: false };

export const Connection = z
  .object({
    index: Index,
    ...address,
    isActive: flag('Whether messages go to this connection first'),
    isConnected: flag('Whether the connection stands and takes messages'),
    ...usage,
    isNearLimit: flag('Whether `Broker__NearLimitPercent` of the monthly limit is used'),
    lastPublishedAt: Timestamp.nullable().meta({ description: 'When this process last published a message there; null before the first' }),
    lastError: z.string().nullable().meta({ description: 'The last fault of the connection; null when there was none' }),
  })
  .meta({
    id: 'Connection',
    description: 'A connection to a message broker',
    examples: [
      {
        index: 1,
        ...exampleAddress,
        isActive: true,
        isConnected: true,
        ...exampleUsage,
        isNearLimit: false,
        lastPublishedAt: '2026-03-15T12:00:00.000Z',
        lastError: null,
      },
    ],
  });

export const ConnectionList = z
  .object({
    active: z
      .string()
      .nullable()
      .meta({ description: 'The name of the active connection; null when none is configured', examples: ['BROKER_URL_1'] }),
    connections: z.array(Connection).meta({ description: 'The configured connections in their order' }),
  })
  .meta({ id: 'ConnectionList', description: 'The configured connections' });
export type ConnectionList = z.output<typeof ConnectionList>;

export const PublishedConnection = z
  .object({
    ...address,
    firstPublishedAt: Timestamp.meta({ description: 'When the first message was published there' }),
    lastPublishedAt: Timestamp.meta({ description: 'When the last message was published there, to the minute' }),
    isConfigured: flag('Whether the settings still have a connection to this broker'),
  })
  .meta({
    id: 'PublishedConnection',
    description: 'A broker that messages were published to. On one that is configured no more, messages may wait: its queues are to be emptied by hand',
    examples: [{ ...exampleAddress, firstPublishedAt: '2026-01-02T08:15:00.000Z', lastPublishedAt: '2026-03-15T12:00:00.000Z', isConfigured: true }],
  });

export const PublishedConnectionList = z
  .object({ connections: z.array(PublishedConnection).meta({ description: 'The brokers, the one that was published to last first' }) })
  .meta({ id: 'PublishedConnectionList', description: 'The brokers that messages were published to' });
export type PublishedConnectionList = z.output<typeof PublishedConnectionList>;

export const SwitchResult = z
  .object({ previous: text('The connection that was active before'), active: text('The connection that is active now'), index: Index })
  .meta({ id: 'SwitchResult', description: 'A change of the active connection', examples: [{ previous: 'BROKER_URL_1', active: 'BROKER_URL_2', index: 2 }] });
export type SwitchResult = z.output<typeof SwitchResult>;

const names = (description: string) => z.array(z.string()).meta({ description });
export const ReloadResult = z
  .object({
    added: names('The connections that were not configured before'),
    removed: names('The connections that are configured no more'),
    changed: names('The connections with another URL or limit'),
    active: z.string().nullable().meta({ description: 'The active connection; null when none is configured' }),
  })
  .meta({
    id: 'ReloadResult',
    description: 'The changes of a reload, by the names of connections',
    examples: [{ added: ['BROKER_URL_2'], removed: [], changed: [], active: 'BROKER_URL_1' }],
  });
export type ReloadResult = z.output<typeof ReloadResult>;

export const LimitSource = z
  .enum(['environment', 'default'])
  .meta({ id: 'LimitSource', description: 'Where the limit comes from: `BROKER_LIMIT_n`, or `Broker__MonthlyMessageLimit`' });

export const BrokerUsage = z.object({ broker: Name, ...usage, limitSource: LimitSource }).meta({
  id: 'BrokerUsage',
  description: 'The usage of a connection in a month',
  examples: [{ broker: 'BROKER_URL_1', ...exampleUsage, limitSource: 'default' }],
});
export type BrokerUsage = z.output<typeof BrokerUsage>;

export const Period = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month as yyyy-MM' })
  .meta({ description: 'A calendar month in UTC', examples: ['2026-01'] });

export const PeriodUsage = z
  .object({ period: Period, brokers: z.array(BrokerUsage).meta({ description: 'The connections in their order' }) })
  .meta({ id: 'PeriodUsage', description: 'The usage of all connections in a month' });
export type PeriodUsage = z.output<typeof PeriodUsage>;
export const UsageHistory = z
  .object({ periods: z.array(PeriodUsage).meta({ description: 'The months, the newest first' }) })
  .meta({ id: 'UsageHistory', description: 'The usage of all stored months' });
export const Deleted = z
  .object({ deleted: Count.meta({ description: 'How many records were deleted or reset' }) })
  .meta({ id: 'Deleted', description: 'A number of deleted records', examples: [{ deleted: 3 }] });

const exampleSender = {
  eventCount: 42,
  firstActivity: '2026-03-01T08:15:00.000Z',
  lastActivity: '2026-03-15T12:00:00.000Z',
  timeSpanMinutes: 20385,
  eventsPerMinute: 0.002,
  frequencyMultiplier: 1,
  isBot: false,
};

export const SenderActivity = z
  .object({
    eventCount: messages('The deliveries of the sender that were accepted'),
    firstActivity: Timestamp.meta({ description: 'When the first of them came' }),
    lastActivity: Timestamp.meta({ description: 'When the last of them came' }),
    timeSpanMinutes: number('The minutes between the first and the last'),
    eventsPerMinute: number('The deliveries of the last ten minutes, divided by ten'),
    frequencyMultiplier: number('The factor of the score that follows from them'),
    isBot: flag('Whether the sender is a bot'),
  })
  .meta({ id: 'SenderActivity', description: 'The activity of a sender', examples: [exampleSender] });

export const SenderStatistics = z
  .record(z.string(), SenderActivity)
  .meta({ id: 'SenderStatistics', description: 'The activity of senders, by login', examples: [{ octocat: exampleSender }] });
export type SenderStatistics = z.output<typeof SenderStatistics>;

export const HealthStatus = z.enum(['Healthy', 'Degraded', 'Unhealthy']).meta({
  id: 'HealthStatus',
  description: 'Unhealthy: no connection is reachable and below its limit. Degraded: some connection is not, or the database is down',
});

const exampleBrokerHealth = { broker: 'BROKER_URL_1', isActive: true, isConnected: true, limitReached: false };
export const BrokerHealth = z
  .object({
    broker: Name,
    isActive: flag('Whether messages go to this connection first'),
    isConnected: flag('Whether the connection stands and takes messages'),
    limitReached: flag('Whether the monthly limit is reached'),
  })
  .meta({ id: 'BrokerHealth', description: 'The health of a connection', examples: [exampleBrokerHealth] });

export const HealthReport = z
  .object({
    status: HealthStatus,
    version: text('The version of Signalbox'),
    brokers: z.array(BrokerHealth).meta({ description: 'The configured connections in their order' }),
    isDatabaseReachable: flag('Whether the database answers. While it does not, deliveries are spooled and the limits are the last known'),
  })
  .meta({
    id: 'HealthReport',
    description: 'The health of the relay and of its connections',
    examples: [{ status: 'Healthy', version: '0.1.0', brokers: [exampleBrokerHealth], isDatabaseReachable: true }],
  });
export type HealthReport = z.output<typeof HealthReport>;

const LimitedConnection = z.object({ broker: Name, messageCount: usage.messageCount, monthlyLimit: usage.monthlyLimit }).meta({
  id: 'LimitedConnection',
  description: 'A connection at its limit',
  examples: [{ broker: 'BROKER_URL_1', messageCount: 2_000_000, monthlyLimit: 2_000_000 }],
});

export const Problems = problems({
  limitsReached: {
    status: 503,
    title: 'Every broker connection has reached its monthly limit',
    members: z
      .object({ period: Period, connections: z.array(LimitedConnection).meta({ description: 'The connections that were checked' }) })
      .meta({ examples: [{ period: '2026-01', connections: [{ broker: 'BROKER_URL_1', messageCount: 2_000_000, monthlyLimit: 2_000_000 }] }] }),
  },
  notPublished: {
    status: 400,
    title: 'The delivery could not be published',
    members: z
      .object({
        id: z.uuid().meta({ description: "The relay's own id of the delivery" }),
        spooled: flag('Whether the delivery is on disk and will be published later'),
      })
      .meta({ examples: [{ id: exampleId, spooled: true }] }),
  },
  spooledMissing: { status: 404, title: 'No such spooled delivery' },
  rejectedMissing: { status: 404, title: 'No such rejected delivery' },
  connectionMissing: { status: 404, title: 'No such broker connection' },
  currentPeriod: { status: 400, title: 'Usage of the current month cannot be deleted' },
  connectionsUnusable: { status: 409, title: 'The configured connections are not usable; the ones in use stay' },
});
