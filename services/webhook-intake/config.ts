// The webhook intake's settings.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import { choice, commonSettings, integer, list, optional, randomCredential, secretList, text } from '../platform/config/settings.ts';
import { usualMaxPayloadValues } from '../webhook-relay/contract.ts';

/** Of everything that connects to the brokers. */
export const brokerSettings = {
  environmentFile: optional(text('Broker__EnvironmentFile', { summary: 'A dotenv file with BROKER_URL_n, over those of the environment; watched' })),
  queueType: choice('Broker__QueueType', ['classic', 'quorum'], { summary: 'Type of the queues on RabbitMQ; quorum from 4.3', default: 'classic' }),
};

/** What a queue worker needs; it serves nothing. */
const workerSettings = {
  databaseUrl: commonSettings.databaseUrl,
  ...brokerSettings,
  ownRepositories: list('Intake__OwnRepositories', {
    summary: 'Globs of owner/name: events of these go to the typed tables; * alone means all',
    default: ['*/*'],
  }),
  maxPayloadValues: integer('Forge__MaxPayloadValues', {
    summary: 'The most values of a delivery that the workers parse; others are dead-lettered. Not below the setting of the relay',
    min: 1000,
    max: 100_000_000,
    default: usualMaxPayloadValues,
  }),
};

const serviceSettings = {
  ...commonSettings,
  // For the runs that the API begins.
  ...workerSettings,
  accessTokens: secretList('Intake__AccessTokens', { summary: 'Tokens of the dashboard API', generate: randomCredential }),
};

export const settings = serviceSettings;

export type ServiceConfig = Values<typeof serviceSettings>;
export type WorkerConfig = Values<typeof workerSettings>;

/** @throws ConfigError with every fault */
export const readServiceConfig = (environment: Environment): ServiceConfig => readSettings(environment, serviceSettings);

/** @throws ConfigError with every fault */
export const readWorkerConfig = (environment: Environment): WorkerConfig => readSettings(environment, workerSettings);
