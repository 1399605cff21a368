// The link digest's settings.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import { eventFaults, eventSettings } from '../platform/events/events.ts';
import { choice, commonSettings, decimal, integer, optional, processSettings, randomCredential, secretList, secretUrl } from '../platform/config/settings.ts';
import { loginSettings, tokenSettings } from './login/settings.ts';

const weight = (name: string, what: string, value: number) =>
  decimal(`LinkScoring__${name}Weight`, { summary: `Weight in the score of a link: ${what}`, min: 0, max: 1, default: value });

const scoringSettings = {
  authorWeight: weight('Author', 'decisions on other links of its authors', 0.35),
  keywordWeight: weight('Keyword', 'weights learned for the words of its title', 0.25),
  recencyWeight: weight('Recency', 'how new it is', 0.2),
  popularityWeight: weight('Popularity', 'how many newsletters hold it', 0.2),
  recencyDays: integer('LinkScoring__RecencyDays', { summary: 'Days after which a link is no longer new at all', min: 1, max: 36_500, default: 30 }),
  popularNewsletters: integer('LinkScoring__PopularNewsletters', {
    summary: 'As many newsletters make a link as popular as can be',
    min: 1,
    max: 1000,
    default: 3,
  }),
  cacheMinutes: integer('LinkScoring__CacheMinutes', { summary: 'How long a computed score is used', min: 1, max: 525_600, default: 60 }),
};

/** Settings of the queue of mails. */
export const queueSettings = {
  queueType: choice('Broker__QueueType', ['classic', 'quorum'], { summary: 'Type of the queue on RabbitMQ; quorum from 4.3', default: 'classic' }),
  maxRetries: integer('Ingest__MaxRetries', { summary: 'How often a mail that failed is tried again before it is dead-lettered', min: 0, max: 10, default: 3 }),
  brokerUrl: secretUrl('Ingest__BrokerUrl', ['amqp', 'amqps', 'postgres', 'postgresql'], {
    summary: 'The broker with the queue of mails: RabbitMQ, or a Postgres database',
  }),
};

/** Settings of a process that stores newsletters. */
export const storingSettings = { databaseUrl: commonSettings.databaseUrl, ...scoringSettings };

/** Settings of a process that takes mails off the queue. */
const workerSettings = { ...queueSettings, ...storingSettings, eventsUrl: eventSettings.eventsUrl };

export const settings = {
  ...commonSettings,
  ...tokenSettings,
  appEnv: processSettings.appEnv,
  ...loginSettings,
  redisUrl: optional(secretUrl('REDIS_URL', ['redis', 'rediss'], { summary: 'Redis, for counting requests; without it Postgres counts them' })),
  ingestTokens: secretList('Ingest__Token', { summary: 'Tokens of mail relays', generate: randomCredential }),
  maxMailBytes: integer('Ingest__MaxRequestBodyBytes', { summary: 'The largest mail that is taken in', min: 1024, max: 104_857_600, default: 10_485_760 }),
  mailsPerHour: integer('Ingest__RateLimitPerHour', { summary: 'Mails that may be sent with one token in 3600 seconds', min: 1, max: 1_000_000, default: 60 }),
  consumes: choice('Ingest__Consume', ['true', 'false'], {
    summary: 'Whether the service takes mails off the queue itself; else `signalbox worker digest` does',
    default: 'true',
  }),
  rawMailsDays: optional(
    integer('Digest__RawMailsDays', {
      summary: 'Days that mails are kept as they came; default: for ever. Without them an improved extraction cannot read them again',
      min: 1,
      max: 36_500,
    }),
  ),
  ...workerSettings,
  ...eventSettings,
} as const;

export type DigestConfig = Values<typeof settings>;
export type ScoringConfig = Values<typeof scoringSettings>;
export type WorkerConfig = Values<typeof workerSettings>;

const requirePassword = ({ adminPasswords, adminPasswordHashes }: DigestConfig) =>
  adminPasswords === undefined && adminPasswordHashes === undefined ? ['Digest__AdminPasswordHash is required and not set'] : [];

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): DigestConfig =>
  readSettings(environment, settings, (config) => [...requirePassword(config), ...eventFaults(config)]);

/** @throws ConfigError with every fault */
export const readWorkerConfig = (environment: Environment): WorkerConfig => readSettings(environment, workerSettings);
