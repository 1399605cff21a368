// Everything the webhook relay says on the wire: to its clients, and to the consumers of its messages.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';

/** The durable parts of the relay's flow on every broker connection; declared by the platform on connect. */
export const forgeTopology = {
  exchange: 'forge-exchange',
  queues: [
    { name: 'forge', prioritised: true, retryDelaysMs: [1_000, 10_000] },
    { name: 'forge-database', prioritised: true, retryDelaysMs: [1_000, 10_000] },
  ],
  deadLetters: { exchange: 'forge-dead-exchange', queue: 'forge.dead' },
} as const;

/** What a delivery may hold, and its readers parse, where no setting says otherwise. */
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

/** How a delivery was scored. Action and sender are empty when the payload names none. */
export const Priority = z
  .object({
    eventType: z.string(),
    action: z.string(),
    senderLogin: z.string(),
    baseScore: z.number(),
    /** The action's entry and the hints of the payload together. */
    actionModifier: z.number(),
    /** baseScore + actionModifier, 1 to 10. */
    baseCalculatedScore: z.number(),
    /** 0.3 to 1.2, two decimals. */
    senderMultiplier: z.number(),
    /** An integer, 1 to 10: the message's priority. */
    finalScore: z.number(),
    description: z.string(),
    isCoreFunction: z.boolean(),
  })
  .meta({
    id: 'Priority',
    examples: [examplePriority],
  });
export type Priority = z.output<typeof Priority>;

/** The answer to a delivery, with 202 and with 401. Members are only ever added to it. */
export const DeliveryResponse = z
  .object({
    /** Unique per delivery; the published message's id. */
    id: z.uuid(),
    /** Unix seconds. */
    time: z.int().min(0),
    isSignatureValid: z.boolean(),
    priority: Priority,
    /** The connection that was used; with 401 the active one. */
    broker: z.string(),
    version: z.string(),
    /** With 401: what is wrong with the signature. */
    detail: z.string().optional(),
  })
  .meta({
    id: 'DeliveryResponse',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        time: 1773576000,
        isSignatureValid: true,
        priority: examplePriority,
        broker: 'BROKER_URL_1',
        version: '0.1.0',
      },
    ],
  });
export type DeliveryResponse = z.output<typeof DeliveryResponse>;

export const ConnectionList = z
  .object({
    active: z.string().nullable(),
    connections: z.array(
      z.object({
        /** 1-based, by ascending n of BROKER_URL_n. */
        index: z.int().min(1),
        name: z.string(),
        scheme: z.string(),
        host: z.string(),
        port: z.int().min(1).max(65_535),
        virtualHost: z.string(),
        isActive: z.boolean(),
        isConnected: z.boolean(),
        limitReached: z.boolean(),
        monthlyLimit: Count,
        messageCount: Count,
        remaining: Count,
        lastPublishedAt: Timestamp.nullable(),
        lastError: z.string().nullable(),
      }),
    ),
  })
  .meta({
    id: 'ConnectionList',
    examples: [
      {
        active: 'BROKER_URL_1',
        connections: [
          {
            index: 1,
            name: 'BROKER_URL_1',
            scheme: 'amqps',
            host: 'rabbitmq',
            port: 5671,
            virtualHost: '/',
            isActive: true,
            isConnected: true,
            limitReached: false,
            monthlyLimit: 2_000_000,
            messageCount: 1234,
            remaining: 1_998_766,
            lastPublishedAt: '2026-03-15T12:00:00.000Z',
            lastError: null,
          },
        ],
      },
    ],
  });
export type ConnectionList = z.output<typeof ConnectionList>;

/** Messages may wait on one that is configured no more: its queues are the operator's to empty. */
export const PublishedConnectionList = z
  .object({
    connections: z.array(
      z.object({
        name: z.string(),
        scheme: z.string(),
        host: z.string(),
        port: z.int().min(1).max(65_535),
        virtualHost: z.string(),
        firstPublishedAt: Timestamp,
        lastPublishedAt: Timestamp,
        isConfigured: z.boolean(),
      }),
    ),
  })
  .meta({
    id: 'PublishedConnectionList',
    examples: [
      {
        connections: [
          {
            name: 'BROKER_URL_1',
            scheme: 'amqps',
            host: 'rabbitmq',
            port: 5671,
            virtualHost: '/',
            firstPublishedAt: '2026-01-02T08:15:00.000Z',
            lastPublishedAt: '2026-03-15T12:00:00.000Z',
            isConfigured: true,
          },
        ],
      },
    ],
  });
export type PublishedConnectionList = z.input<typeof PublishedConnectionList>;

export const SwitchResult = z
  .object({ previous: z.string(), active: z.string(), index: z.int().min(1) })
  .meta({ id: 'SwitchResult', examples: [{ previous: 'BROKER_URL_1', active: 'BROKER_URL_2', index: 2 }] });
export type SwitchResult = z.output<typeof SwitchResult>;
export const ReloadResult = z
  .object({
    added: z.array(z.string()),
    removed: z.array(z.string()),
    changed: z.array(z.string()),
    active: z.string().nullable(),
  })
  .meta({ id: 'ReloadResult', examples: [{ added: ['BROKER_URL_2'], removed: [], changed: [], active: 'BROKER_URL_1' }] });
export type ReloadResult = z.output<typeof ReloadResult>;

export const BrokerUsage = z
  .object({
    broker: z.string(),
    messageCount: Count,
    monthlyLimit: Count,
    limitSource: z.enum(['environment', 'default']),
    remaining: Count,
    limitReached: z.boolean(),
  })
  .meta({
    id: 'BrokerUsage',
    examples: [{ broker: 'BROKER_URL_1', messageCount: 1234, monthlyLimit: 2_000_000, limitSource: 'default', remaining: 1_998_766, limitReached: false }],
  });
export type BrokerUsage = z.output<typeof BrokerUsage>;

/** A calendar month in UTC: `2026-01`. */
export const Period = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month as yyyy-MM' })
  .meta({ examples: ['2026-01'] });

export const PeriodUsage = z.object({ period: Period, brokers: z.array(BrokerUsage) }).meta({ id: 'PeriodUsage' });
export type PeriodUsage = z.output<typeof PeriodUsage>;
export const UsageHistory = z.object({ periods: z.array(PeriodUsage) }).meta({ id: 'UsageHistory' });
export const Deleted = z.object({ deleted: Count }).meta({ id: 'Deleted', examples: [{ deleted: 3 }] });

/** By login. */
export const SenderStatistics = z
  .record(
    z.string(),
    z.object({
      eventCount: Count,
      firstActivity: Timestamp,
      lastActivity: Timestamp,
      timeSpanMinutes: z.number(),
      eventsPerMinute: z.number(),
      frequencyMultiplier: z.number(),
      isBot: z.boolean(),
    }),
  )
  .meta({
    id: 'SenderStatistics',
    examples: [
      {
        octocat: {
          eventCount: 42,
          firstActivity: '2026-03-01T08:15:00.000Z',
          lastActivity: '2026-03-15T12:00:00.000Z',
          timeSpanMinutes: 20385,
          eventsPerMinute: 0.002,
          frequencyMultiplier: 1,
          isBot: false,
        },
      },
    ],
  });
export type SenderStatistics = z.output<typeof SenderStatistics>;

export const HealthReport = z
  .object({
    status: z.enum(['Healthy', 'Degraded', 'Unhealthy']),
    version: z.string(),
    brokers: z.array(z.object({ broker: z.string(), isActive: z.boolean(), isConnected: z.boolean(), limitReached: z.boolean() })),
    /** Down, nothing can be reserved and deliveries are spooled; the brokers' counts are then the last known. */
    isDatabaseReachable: z.boolean(),
  })
  .meta({
    id: 'HealthReport',
    examples: [
      {
        status: 'Healthy',
        version: '0.1.0',
        brokers: [{ broker: 'BROKER_URL_1', isActive: true, isConnected: true, limitReached: false }],
        isDatabaseReachable: true,
      },
    ],
  });
export type HealthReport = z.output<typeof HealthReport>;

export const Problems = problems({
  limitsReached: {
    status: 503,
    title: 'Every broker connection has reached its monthly limit',
    members: z
      .object({ period: Period, connections: z.array(z.object({ broker: z.string(), messageCount: Count, monthlyLimit: Count })) })
      .meta({ examples: [{ period: '2026-01', connections: [{ broker: 'BROKER_URL_1', messageCount: 2_000_000, monthlyLimit: 2_000_000 }] }] }),
  },
  /** Its member `spooled` says whether the delivery is kept on disk and will be published later. */
  notPublished: {
    status: 400,
    title: 'The delivery could not be published',
    members: z.object({ id: z.uuid(), spooled: z.boolean() }).meta({ examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', spooled: true }] }),
  },
  connectionMissing: { status: 404, title: 'No such broker connection' },
  currentPeriod: { status: 400, title: 'Usage of the current month cannot be deleted' },
  connectionsUnusable: { status: 409, title: 'The configured connections are not usable; the ones in use stay' },
});
