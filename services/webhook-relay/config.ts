// The webhook relay's settings.
import { type Environment, readAll, readSettings, type Values } from '../platform/config/config.ts';
import { choice, commonSettings, consoleCredential, integer, list, optional, randomCredential, secretList, text, url } from '../platform/config/settings.ts';
import { eventFaults, eventSettings } from '../platform/events/events.ts';
import { usualMaxPayloadValues } from './contract.ts';
import { readTables, type Tables } from './scoring/tables.ts';

export const settings = {
  ...commonSettings,
  ...eventSettings,
  environmentFile: optional(
    text('Broker__EnvironmentFile', { summary: 'A dotenv file with BROKER_URL_n and BROKER_LIMIT_n, over those of the environment; watched' }),
  ),
  queueType: choice('Broker__QueueType', ['classic', 'quorum'], { summary: 'Type of the queues on RabbitMQ; quorum from 4.3', default: 'classic' }),
  monthlyLimit: integer('Broker__MonthlyMessageLimit', {
    summary: 'Messages a connection may publish in a calendar month where no BROKER_LIMIT_n says otherwise',
    min: 0,
    max: 999_999_999_999,
    default: 2_000_000,
  }),
  nearLimitPercent: integer('Broker__NearLimitPercent', {
    summary: 'Percentage of the monthly limit of a connection from which the event broker.near_limit is sent, once a month',
    min: 1,
    max: 100,
    default: 80,
  }),
  authTokens: secretList('Broker__AuthToken', { summary: 'Bearer tokens of /Broker and /broker/usage', generate: randomCredential }),
  consoleTokens: consoleCredential('Console__RelayToken', 'webhook relay'),
  webhookSecrets: secretList('Forge__WebhookSecrets', { summary: 'The secrets that deliveries are signed with', generate: randomCredential }),
  maxPayloadBytes: integer('Forge__MaxPayloadBytes', { summary: 'The largest delivery taken', min: 1024, max: 268_435_456, default: 26_214_400 }),
  maxPayloadValues: integer('Forge__MaxPayloadValues', {
    summary: 'The most values a delivery may hold, counted by `{`, `[` and `,` before it is parsed: a value costs up to 70 bytes of memory',
    min: 1000,
    max: 100_000_000,
    default: usualMaxPayloadValues,
  }),
  maxBodyMemoryBytes: integer('Relay__MaxBodyMemoryBytes', {
    summary: 'Memory for the bodies of deliveries: each byte counts twice, as it came and parsed; one body always fits, further ones wait',
    min: 1024,
    max: 17_179_869_184,
    default: 134_217_728,
  }),
  budgetMs: integer('Relay__DeliveryBudgetMs', {
    summary: 'Milliseconds in which a delivery is answered, from the first line of its request: Gitea and Forgejo give up after 5 s, GitHub after 10 s',
    min: 1000,
    max: 60_000,
    default: 4500,
  }),
  spoolDirectory: text('FailedPayloads__Directory', { summary: 'Where deliveries wait that could not be published', default: '.signalbox/spool' }),
  spoolMaxBytes: optional(
    integer('FailedPayloads__MaxBytes', {
      summary:
        'Most bytes in that folder; further deliveries are answered as with a full disk; default: no limit but its disk. The chart sets nine tenths of `spool.sizeLimit`',
      min: 65_536,
      max: Number.MAX_SAFE_INTEGER,
    }),
  ),
  alertUrl: optional(url('Monitoring__AlertUrl', ['http', 'https'], { summary: 'URL that receives a POST when every connection has reached its limit' })),
  scoringFile: optional(text('Scoring__File', { summary: 'A YAML file that overrides scoring tables' })),
  ownerLogins: list('Scoring__OwnerLogins', { summary: 'Senders that count as owner', default: [] }),
  ownBotLogins: list('Scoring__OwnBotLogins', { summary: 'Senders that count as own bots', default: [] }),
  rejectedDays: integer('Retention__RejectedDeliveriesDays', {
    summary: 'Days that a delivery is kept that was answered with a refusal',
    min: 1,
    max: 3650,
    default: 14,
  }),
  rejectedRows: integer('Retention__RejectedDeliveriesRows', { summary: 'Most of those that are kept, the newest', min: 1, max: 10_000_000, default: 10_000 }),
  replayedDays: integer('Retention__ReplayedPayloadsDays', {
    summary: 'Days that a row of failed_payloads is kept after its delivery was published',
    min: 1,
    max: 3650,
    default: 7,
  }),
  refusedDays: integer('Retention__RefusedPayloadsDays', {
    summary: 'Days that a spooled delivery is kept that was given up, as a file or as a row',
    min: 1,
    max: 3650,
    default: 30,
  }),
  usageMonths: integer('Retention__UsageMonths', {
    summary: 'Months of usage, of its days and of changes of connections that are kept, besides the current one',
    min: 1,
    max: 1200,
    default: 24,
  }),
  senderDays: integer('Retention__SendersDays', { summary: 'Days that a sender is kept who was not seen again', min: 1, max: 3650, default: 90 }),
} as const;

/** The settings, and the scoring tables with what the file overrides. */
export type RelayConfig = Values<typeof settings> & { readonly tables: Tables };

/** @throws ConfigError with every fault: of the settings, between two of them, and of the file of scoring tables */
export async function readConfig(environment: Environment): Promise<RelayConfig> {
  const { maxPayloadBytes, maxBodyMemoryBytes, scoringFile } = settings;
  const [values, , , tables] = await readAll(
    () => readSettings(environment, settings),
    () => readSettings(environment, { maxPayloadBytes, maxBodyMemoryBytes }, bodyMemoryFaults),
    () => readSettings(environment, eventSettings, eventFaults),
    () => readTables(readSettings(environment, { scoringFile }).scoringFile),
  );
  return { ...values, tables };
}

const bodyMemoryFaults = ({ maxPayloadBytes, maxBodyMemoryBytes }: { readonly maxPayloadBytes: number; readonly maxBodyMemoryBytes: number }) =>
  maxBodyMemoryBytes < maxPayloadBytes ? ['Relay__MaxBodyMemoryBytes must not be below Forge__MaxPayloadBytes'] : [];
