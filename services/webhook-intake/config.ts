// The webhook intake's settings.
import { ConfigError, type Environment, InvalidSetting, readAll, readSettings, type Setting, type Values } from '../platform/config/config.ts';
import {
  choice,
  commonSettings,
  consoleCredential,
  integer,
  list,
  optional,
  randomCredential,
  secret,
  secretList,
  secretUrl,
  text,
  url,
} from '../platform/config/settings.ts';
import type { Secret } from '../platform/config/secret.ts';
import { eventSettings } from '../platform/events/events.ts';
import { isGiteaApi } from '../forges/gitea.ts';
import { usualMaxPayloadValues } from '../webhook-relay/contract.ts';
import type { ConfiguredChannel } from './notifications/channel.ts';
import { channels } from './notifications/channels.ts';
import { notificationFaults } from './notifications/notifications.ts';
import { rulesSetting } from './notifications/rules.ts';
import { readRules } from './notifications/rules-file.ts';
import { readSourcesFile, sourcesSetting } from './sources/file.ts';
import { signalbox } from './sources/own.ts';
import { usualReplayEvents } from './contract.ts';
import type { ConfiguredSource, Source } from './sources/source.ts';
import * as sources from './sources/sources.ts';

/** Settings of every process that connects to the brokers. */
export const brokerSettings = {
  environmentFile: optional(text('Broker__EnvironmentFile', { summary: 'A dotenv file with BROKER_URL_n, over those of the environment; watched' })),
  queueType: choice('Broker__QueueType', ['classic', 'quorum'], { summary: 'Type of the queues on RabbitMQ; quorum from 4.3', default: 'classic' }),
};

/** A comma parts the list, also within braces. */
function globs(...given: Parameters<typeof list>): Setting<readonly string[]> {
  const setting = list(...given);
  const parse = (value: string) => {
    if (/[{}]/.test(value)) throw new InvalidSetting('must be globs without braces: give each of their words a glob of its own');
    return setting.parse(value);
  };
  return { ...setting, parse };
}

/** Settings of a queue worker, which serves no port. */
const workerSettings = {
  databaseUrl: commonSettings.databaseUrl,
  ...brokerSettings,
  ownRepositories: globs('Intake__OwnRepositories', {
    summary: 'Globs of owner/name, without braces: events of these go to the typed tables; * alone means all',
    default: ['*/*'],
  }),
  maxPayloadValues: integer('Forge__MaxPayloadValues', {
    summary: 'The most values of a delivery that the workers parse; others are dead-lettered. Not below the setting of the relay',
    min: 1000,
    max: 100_000_000,
    default: usualMaxPayloadValues,
  }),
  rulesFile: optional(
    text(rulesSetting, { summary: 'A YAML file of rules that says which events are sent to which recipients; watched. Without it nothing is sent' }),
  ),
};

const days = (name: string, summary: string, { value, min = 1 }: { readonly value: number; readonly min?: number }) =>
  integer(`Retention__${name}Days`, { summary, min, max: 36_500, default: value });

/** The retentions that cleanup applies. */
const retentionSettings = {
  payloadDays: days('EventPayloads', 'Days that the payload of an event is kept, and then to the end of its month', { value: 30 }),
  eventDays: days('Events', 'Days that an event is kept, and then to the end of its month', { value: 180 }),
  sourceEventDays: days('SourceEvents', 'Days that an event of a direct source is kept', { value: 90 }),
  deduplicationKeyDays: days('DeduplicationKeys', 'Days within which an event that comes again is known as a duplicate', { value: 90, min: 7 }),
  bucketDays: days('StatisticsBuckets', 'Days that the statistics go back', { value: 730 }),
  hourDays: days('StatisticsHours', 'Days that the statistics by the hour go back', { value: 60 }),
  typedRowDays: days('TypedRows', 'Days that a typed row is kept after its last event, once it is PROCESSED', { value: 180 }),
  workflowRunDays: days('WorkflowRuns', 'Days that a workflow run is kept after its last event', { value: 90 }),
  releasesPerRepository: integer('Retention__ReleasesPerRepository', {
    summary: 'Releases of each repository that are kept, the newest',
    min: 1,
    max: 10_000,
    default: 20,
  }),
  sentNotificationDays: days('SentNotifications', 'Days that a notification is kept after it was sent or given up', { value: 30 }),
  workerRunDays: days('WorkerRuns', 'Days that the record of a run is kept', { value: 90 }),
};
export type Retention = Values<typeof retentionSettings>;

const cleanupSettings = {
  databaseUrl: commonSettings.databaseUrl,
  ...retentionSettings,
  pingUrl: optional(
    secretUrl('Heartbeat__PingUrl', ['http', 'https'], {
      summary: 'Address of an external monitor such as healthchecks.io: cleanup asks for it with /start, as it is when it succeeded, and with /fail',
    }),
  ),
};

const hookPattern = /^(repos\/[^/?#\s]+\/[^/?#\s]+\/hooks\/\d+|orgs\/[^/?#\s]+\/hooks\/\d+|app\/hook)$/;

const maintenanceSettings = {
  databaseUrl: commonSettings.databaseUrl,
  ...brokerSettings,
  forgeApiUrl: url('Forge__ApiUrl', ['http', 'https'], {
    summary: "The forge's API; that of Gitea and Forgejo ends in /api/v1",
    default: 'https://api.github.com',
  }),
  forgeApiToken: optional(
    secret('Forge__ApiToken', {
      summary: 'A token that may read the repositories: reconciliation with the API, which makes up for lost deliveries; for Forge__ApiHooks it may write them',
    }),
  ),
  forgeHost: optional(text('Forge__Host', { summary: 'Host in the links of the forge, where it is not that of Forge__ApiUrl, such as `git.example.com`' })),
  reconcileMinutes: integer('Forge__ReconcileMinutes', { summary: 'A repository is reconciled at most this often', min: 1, max: 100_000, default: 60 }),
  forgeApiHooks: list('Forge__ApiHooks', {
    summary: 'Webhooks of GitHub whose failed deliveries are asked for again: repos/OWNER/REPO/hooks/ID, orgs/ORG/hooks/ID, app/hook',
    default: [],
  }),
};

/** Faults between settings. */
function checkForge({ forgeApiUrl, forgeApiToken, forgeApiHooks }: Pick<MaintenanceConfig, 'forgeApiUrl' | 'forgeApiToken' | 'forgeApiHooks'>): string[] {
  const wrong = forgeApiHooks.flatMap((hook, index) => (hookPattern.test(hook) ? [] : [index + 1]));
  if (wrong.length > 0) return [`Forge__ApiHooks must hold repos/OWNER/REPO/hooks/ID, orgs/ORG/hooks/ID or app/hook; not so entry ${wrong.join(', ')}`];
  if (forgeApiHooks.length > 0 && forgeApiToken === undefined) return ['Forge__ApiHooks needs Forge__ApiToken'];
  if (forgeApiHooks.length > 0 && isGiteaApi(forgeApiUrl))
    return ['Forge__ApiHooks must be empty for Gitea and Forgejo, whose API has no deliveries: reconciliation makes up for lost ones'];
  return [];
}

const serviceSettings = {
  ...commonSettings,
  // For the runs that the API begins.
  ...workerSettings,
  ...cleanupSettings,
  ...maintenanceSettings,
  notificationsPerHour: integer('Notifications__MaxPerHour', {
    summary: 'Most messages that one recipient gets in an hour; the last of them is a digest of all the rest',
    min: 1,
    max: 10_000,
    default: 30,
  }),
  replayMaxEvents: integer('Replay__MaxEvents', { summary: 'The most events of one replay', min: 1, max: 1_000_000, default: usualReplayEvents }),
  accessTokens: secretList('Intake__AccessTokens', { summary: 'Tokens of the dashboard API', generate: randomCredential }),
  consoleTokens: consoleCredential('Console__IntakeToken', 'webhook intake'),
};

const fileSettings = {
  sourcesFile: optional(
    text(sourcesSetting, { summary: 'A YAML file that declares further direct sources; read at the start. Without it there are the built-in ones' }),
  ),
};

type SourceSettings = Readonly<Record<string, Setting<readonly Secret[] | undefined>>>;

/** By the source's name: `Sources__SentrySecrets`. */
const sourceSettings: SourceSettings = Object.fromEntries(
  Object.values<Source>(sources).map(({ name, vendor }) => {
    const secrets = secretList(`Sources__${name.replace(/^./, (letter) => letter.toUpperCase())}Secrets`, {
      summary: `Secrets of ${vendor}, by which its webhooks are verified; without one POST /${name} answers 404`,
    });
    return [name, optional(secrets)];
  }),
);

export const settings = {
  ...serviceSettings,
  ...fileSettings,
  eventsSecrets: eventSettings.eventsSecrets,
  ...Object.fromEntries(channels.flatMap((channel) => Object.entries(channel.settings).map(([key, one]) => [`${channel.name}_${key}`, one]))),
  ...sourceSettings,
};

export type ServiceConfig = Values<typeof serviceSettings> & {
  readonly sources: readonly ConfiguredSource[];
  readonly channels: readonly ConfiguredChannel[];
};
export type WorkerConfig = Values<typeof workerSettings>;
export type CleanupConfig = Values<typeof cleanupSettings>;
export type MaintenanceConfig = Values<typeof maintenanceSettings>;

/** @throws ConfigError with every fault */
export async function readServiceConfig(environment: Environment): Promise<ServiceConfig> {
  const [values, configured, configuredChannels, rules] = await readAll(
    () => readSettings(environment, serviceSettings, checkForge),
    () => readSources(environment),
    () =>
      readAll(
        ...channels.map(
          ({ read }) =>
            () =>
              read(environment),
        ),
      ),
    () => readRules(readSettings(environment, { rulesFile: workerSettings.rulesFile }).rulesFile),
  );
  const faults = notificationFaults(configuredChannels, rules);
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...values, channels: configuredChannels, sources: configured };
}

/** The sources that have a secret: built-in ones, Signalbox' own, and those of the file. @throws ConfigError with every fault */
async function readSources(environment: Environment): Promise<ConfiguredSource[]> {
  const builtIn = Object.values<Source>(sources);
  const [secretsOf, { eventsSecrets }, declared] = await readAll(
    () => readSettings(environment, sourceSettings),
    () => readSettings(environment, { eventsSecrets: eventSettings.eventsSecrets }),
    () => {
      const { sourcesFile } = readSettings(environment, fileSettings);
      return sourcesFile === undefined
        ? []
        : readSourcesFile(
            sourcesFile,
            environment,
            [...builtIn, signalbox].map(({ name }) => name),
          );
    },
  );
  const configured = [...builtIn.map((source) => ({ source, secrets: secretsOf[source.name] ?? [] })), { source: signalbox, secrets: eventsSecrets ?? [] }];
  return [...configured.filter(({ secrets }) => secrets.length > 0), ...declared];
}

/** @throws ConfigError with every fault */
export async function readWorkerConfig(environment: Environment): Promise<WorkerConfig> {
  const [values] = await readAll(
    () => readSettings(environment, workerSettings),
    () => readRules(readSettings(environment, { rulesFile: workerSettings.rulesFile }).rulesFile),
  );
  return values;
}

/** @throws ConfigError with every fault */
export const readCleanupConfig = (environment: Environment): CleanupConfig => readSettings(environment, cleanupSettings);

/** @throws ConfigError with every fault */
export const readMaintenanceConfig = (environment: Environment): MaintenanceConfig => readSettings(environment, maintenanceSettings, checkForge);
