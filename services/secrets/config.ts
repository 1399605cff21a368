// The secrets service's settings.
import { randomBytes } from 'node:crypto';
import { type Environment, readSettings, type Setting, type Values } from '../platform/config/config.ts';
import { Secret } from '../platform/config/secret.ts';
import {
  choice,
  commonSettings,
  consoleCredential,
  integer,
  optional,
  randomCredential,
  secret,
  secretList,
  secretUrl,
  text,
} from '../platform/config/settings.ts';
import { eventFaults, eventSettings } from '../platform/events/events.ts';
import { noticeSettings } from './notices.ts';
import { type Keyring, readMasterKeys, unusableKeyring } from './encryption/master-keys.ts';

// A fault does not end the start: the service is unready and says why.
const masterKeys: Setting<Keyring> = {
  ...secret('Encryption__MasterKeys', {
    summary: 'Master keys as `id:base64 of 32 bytes`, comma separated; the first one seals',
    generate: () => `key-1:${randomBytes(32).toString('base64')}`,
    isInternal: true,
  }),
  parse: (text) => readMasterKeys(new Secret(text)),
  fallback: { value: unusableKeyring('Encryption__MasterKeys is not set') },
  whenFaulty: unusableKeyring,
};

const compatibilitySettings = {
  vault: choice('Compatibility__Vault', ['off', 'on'], {
    summary: "Whether /v1 answers reads in the form of HashiCorp Vault's KV version 2, with the key of an application as the token",
    default: 'off',
  }),
  keyVault: choice('Compatibility__KeyVault', ['off', 'on'], {
    summary: 'Whether /secrets, /{environment}/secrets and /adfs answer reads in the form of Azure Key Vault, with the key of an application',
    default: 'off',
  }),
} as const;

const accountSettings = {
  serviceAccounts: choice('Secrets__ServiceAccounts', ['off', 'on'], {
    summary: 'Whether tokens of Kubernetes ServiceAccounts read like keys of applications; the API server, found as kubectl finds it, checks them',
    default: 'off',
  }),
  tokenAudience: text('Secrets__TokenAudience', { summary: 'The audience that those tokens must be made for', default: 'signalbox-secrets' }),
} as const;

export const settings = {
  ...commonSettings,
  ...compatibilitySettings,
  ...accountSettings,
  ...eventSettings,
  ...noticeSettings,
  adminApiKeys: secretList('Management__AdminApiKey', { summary: 'Bearer tokens of the management plane', generate: randomCredential }),
  consoleTokens: consoleCredential('Console__SecretsToken', 'secrets service'),
  maxFailedCredentials: integer('Management__MaxFailedCredentials', {
    summary:
      'Requests with a missing or wrong credential that an address may send to the management plane in 5 minutes; further ones are 429, right credentials pass',
    min: 1,
    max: 1_000_000,
    default: 20,
  }),
  redisUrl: optional(secretUrl('REDIS_URL', ['redis', 'rediss'], { summary: 'Redis, for counting those requests; without it Postgres counts them' })),
  masterKeys,
  changesRetentionDays: integer('Changes__RetentionDays', {
    summary: 'The change feed keeps a change at least this long; an older cursor is answered 410',
    min: 1,
    max: 3650,
    default: 7,
  }),
  maxChangePolls: integer('Changes__MaxPolls', {
    summary: 'Polls of the change feed that may wait in a process; further ones are 503',
    min: 1,
    max: 100_000,
    default: 1000,
  }),
  auditRetentionDays: integer('Audit__RetentionDays', { summary: 'Audit entries are kept at least this long', min: 1, max: 36_500, default: 365 }),
} as const;

export type SecretsConfig = Values<typeof settings>;

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): SecretsConfig => readSettings(environment, settings, eventFaults);
