// Everything the webhook relay says on the wire: to its clients, and to the consumers of its messages.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Timestamp } from '../platform/schema.ts';

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
  event: 'x-event',
  action: 'x-action',
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

/** How a delivery was scored. Action and sender are empty when the payload names none. */
export const Priority = z.object({
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
});
export type Priority = z.output<typeof Priority>;

/** The answer to a delivery, with 202 and with 401. Members are only ever added to it. */
export const DeliveryResponse = z.object({
  /** Unique per delivery; the published message's id. */
  id: z.uuid(),
  /** Unix seconds. */
  time: z.int(),
  isSignatureValid: z.boolean(),
  priority: Priority,
  /** The connection that was used; with 401 the active one. */
  broker: z.string(),
  version: z.string(),
  /** With 401: what is wrong with the signature. */
  detail: z.string().optional(),
});
export type DeliveryResponse = z.output<typeof DeliveryResponse>;

export const ConnectionList = z.object({
  active: z.string().nullable(),
  connections: z.array(
    z.object({
      /** 1-based, by ascending n of BROKER_URL_n. */
      index: z.int(),
      name: z.string(),
      scheme: z.string(),
      host: z.string(),
      port: z.int(),
      virtualHost: z.string(),
      isActive: z.boolean(),
      isConnected: z.boolean(),
      limitReached: z.boolean(),
      monthlyLimit: z.int(),
      messageCount: z.int(),
      remaining: z.int(),
      lastPublishedAt: Timestamp.nullable(),
      lastError: z.string().nullable(),
    }),
  ),
});
export type ConnectionList = z.output<typeof ConnectionList>;

export const SwitchResult = z.object({ previous: z.string(), active: z.string(), index: z.int() });
export type SwitchResult = z.output<typeof SwitchResult>;
export const ReloadResult = z.object({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  changed: z.array(z.string()),
  active: z.string().nullable(),
});
export type ReloadResult = z.output<typeof ReloadResult>;

export const BrokerUsage = z.object({
  broker: z.string(),
  messageCount: z.int(),
  monthlyLimit: z.int(),
  limitSource: z.enum(['environment', 'default']),
  remaining: z.int(),
  limitReached: z.boolean(),
});
export type BrokerUsage = z.output<typeof BrokerUsage>;

/** A calendar month in UTC: `2026-01`. */
export const Period = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, { error: 'must be a month as yyyy-MM' })
  .meta({ examples: ['2026-01'] });

export const PeriodUsage = z.object({ period: Period, brokers: z.array(BrokerUsage) });
export type PeriodUsage = z.output<typeof PeriodUsage>;
export const UsageHistory = z.object({ periods: z.array(PeriodUsage) });
export const Deleted = z.object({ deleted: z.int() });

/** By login. */
export const SenderStatistics = z.record(
  z.string(),
  z.object({
    eventCount: z.int(),
    firstActivity: Timestamp,
    lastActivity: Timestamp,
    timeSpanMinutes: z.number(),
    eventsPerMinute: z.number(),
    frequencyMultiplier: z.number(),
    isBot: z.boolean(),
  }),
);
export type SenderStatistics = z.output<typeof SenderStatistics>;

export const HealthReport = z.object({
  status: z.enum(['Healthy', 'Degraded', 'Unhealthy']),
  version: z.string(),
  brokers: z.array(z.object({ broker: z.string(), isActive: z.boolean(), isConnected: z.boolean(), limitReached: z.boolean() })),
  /** Down, nothing can be reserved and deliveries are spooled; the brokers' counts are then the last known. */
  isDatabaseReachable: z.boolean(),
});
export type HealthReport = z.output<typeof HealthReport>;

export const Problems = problems({
  limitsReached: {
    status: 503,
    title: 'Every broker connection has reached its monthly limit',
    members: z.object({ period: Period, connections: z.array(z.object({ broker: z.string(), messageCount: z.int(), monthlyLimit: z.int() })) }),
  },
  /** Its member `spooled` says whether the delivery is kept on disk and will be published later. */
  notPublished: { status: 400, title: 'The delivery could not be published', members: z.object({ id: z.uuid(), spooled: z.boolean() }) },
  connectionMissing: { status: 404, title: 'No such broker connection' },
  currentPeriod: { status: 400, title: 'Usage of the current month cannot be deleted' },
  connectionsUnusable: { status: 409, title: 'The configured connections are not usable; the ones in use stay' },
});
