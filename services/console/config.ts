// The console's settings.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import {
  commonSettings,
  consoleCredential,
  integer,
  optional,
  origins,
  randomCredential,
  passwordHashList,
  secretList,
  secretUrl,
  text,
  url,
} from '../platform/config/settings.ts';

const loginSettings = {
  adminUsername: text('Console__AdminUsername', { summary: 'The name of the first person, who has the role admin everywhere', default: 'admin' }),
  adminPasswords: optional(
    secretList('Console__AdminPassword', {
      summary: "The first person's password, which `npm start` generates, without a comma; not looked at when a hash is given",
      generate: randomCredential,
    }),
  ),
  adminPasswordHashes: optional(
    passwordHashList('Console__AdminPasswordHash', { summary: "The first person's password as `signalbox digest hash-password` prints it" }),
  ),
  loginAttempts: integer('Console__LoginAttempts', {
    summary: 'Failed logins with one name from one address in 15 minutes; further attempts are 429',
    min: 1,
    max: 1_000_000,
    default: 5,
  }),
  idleMinutes: integer('Console__SessionIdleMinutes', { summary: 'Minutes after which an unused session ends', min: 1, max: 525_600, default: 720 }),
  sessionHours: integer('Console__SessionHours', { summary: 'Hours after which a session ends, however much it is used', min: 1, max: 8760, default: 168 }),
} as const;

const serviceUrl = (name: string, service: string, area: string) =>
  optional(url(name, ['http', 'https'], { summary: `Where the ${service} answers; without it there is no ${area}` }));

const upstreamSettings = {
  relayUrl: serviceUrl('Console__RelayUrl', 'webhook relay', 'page of brokers'),
  intakeUrl: serviceUrl('Console__IntakeUrl', 'webhook intake', 'area of events'),
  digestUrl: serviceUrl('Console__DigestUrl', 'link digest', 'area of links'),
  secretsUrl: serviceUrl('Console__SecretsUrl', 'secrets service', 'area of secrets'),
  bookmarksUrl: serviceUrl('Console__BookmarksUrl', 'bookmark catalogue', 'area of bookmarks'),
  listingsUrl: serviceUrl('Console__ListingsUrl', 'listing triage', 'area of listings'),
  relayTokens: consoleCredential('Console__RelayToken', 'webhook relay'),
  intakeTokens: consoleCredential('Console__IntakeToken', 'webhook intake'),
  digestKeys: consoleCredential('Console__DigestKey', 'link digest'),
  secretsTokens: consoleCredential('Console__SecretsToken', 'secrets service'),
  bookmarksKeys: consoleCredential('Console__BookmarksKey', 'bookmark catalogue'),
  listingsTokens: consoleCredential('Console__ListingsToken', 'listing triage'),
  issuer: text('Jwt__Issuer', { summary: 'The issuer in access tokens for the link digest; as there', default: 'signalbox' }),
  audience: text('Jwt__Audience', { summary: 'The audience in access tokens for the link digest; as there', default: 'link-digest' }),
} as const;

const { port, databaseUrl, trustedProxies } = commonSettings;

export const settings = {
  port,
  databaseUrl,
  trustedProxies,
  redisUrl: optional(secretUrl('REDIS_URL', ['redis', 'rediss'], { summary: 'Redis, for counting failed logins; without it Postgres counts them' })),
  ...loginSettings,
  ...upstreamSettings,
  imageOrigins: origins('Console__ImageOrigins', { summary: 'Origins whose pictures pages may show, such as those of listings', default: [] }),
  actionsDays: integer('Retention__ActionsDays', { summary: 'Days that the record of logins and actions is kept', min: 1, max: 36_500, default: 365 }),
} as const;

export type ConsoleConfig = Values<typeof settings>;

const requirePassword = ({ adminPasswords, adminPasswordHashes }: ConsoleConfig) =>
  adminPasswords === undefined && adminPasswordHashes === undefined ? ['Console__AdminPassword or Console__AdminPasswordHash is required and not set'] : [];

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): ConsoleConfig => readSettings(environment, settings, requirePassword);
