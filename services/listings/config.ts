// The listing triage service's settings, and those of its geocoding worker.
import { type Environment, InvalidSetting, readSettings, type Setting, type Values } from '../platform/config/config.ts';
import {
  choice,
  commonSettings,
  consoleCredential,
  integer,
  optional,
  processSettings,
  randomCredential,
  secret,
  secretList,
  secretUrl,
  url,
} from '../platform/config/settings.ts';
import { eventFaults, eventSettings } from '../platform/events/events.ts';

const parsePattern = (source: string): RegExp => {
  let groups: number;
  try {
    // It matches nothing as well, with all its groups.
    groups = (new RegExp(`${source}|`).exec('')?.length ?? 1) - 1;
  } catch {
    throw new InvalidSetting('must be a regular expression');
  }
  if (groups === 0) throw new InvalidSetting('must have a group, which is the sourceId');
  return new RegExp(source, 'i');
};

/** A link of the form that daft.ie has: `/for-rent/<slug>/<digits>`. */
const linkPattern: Setting<RegExp> = {
  name: 'Ingest__LinkPattern',
  summary: 'Regular expression, in any case, of links in alert mails that lead to a listing; its first group is the sourceId. Default: links of daft.ie',
  shape: 'regular expression',
  isSecret: false,
  parse: parsePattern,
  fallback: { value: parsePattern(String.raw`^https?://(?:[\w-]+\.)*daft\.ie/for-rent/[^/?#]+/(\d+)(?![^/?#])`) },
};

const geocodeCacheDays = integer('Retention__GeocodeCacheDays', {
  summary: 'Days that found coordinates are used again for the same address',
  min: 1,
  max: 36_500,
  default: 365,
});

const withdrawnAfterDays = integer('Listings__WithdrawnAfterDays', {
  summary: 'Days after which a listing that has not come again counts as withdrawn',
  min: 1,
  max: 36_500,
  default: 30,
});

export const geocodingProviders = ['none', 'nominatim', 'google'] as const;

/** Settings of the geocoding worker, which also parses failed mails again. */
const workerSettings = {
  databaseUrl: commonSettings.databaseUrl,
  geocodingProvider: choice('Geocoding__Provider', geocodingProviders, { summary: 'Who turns addresses into coordinates', default: 'none' }),
  geocodingBaseUrl: optional(url('Geocoding__BaseUrl', ['http', 'https'], { summary: 'Base URL of the provider; default: its public server' })),
  geocodingApiKey: optional(secret('Geocoding__ApiKey', { summary: 'The key of google; nominatim has none' })),
  geocodingIntervalSeconds: integer('Geocoding__IntervalSeconds', {
    summary: 'Pause between two runs of the geocoding worker; the service is unready 5 minutes after the last one',
    min: 1,
    max: 240,
    default: 60,
  }),
  geocodeCacheDays,
  linkPattern,
  withdrawnAfterDays,
  eventsUrl: eventSettings.eventsUrl,
};

const serviceSettings = {
  ...commonSettings,
  ...eventSettings,
  appEnv: processSettings.appEnv,
  accessTokens: secretList('Listings__AccessTokens', { summary: 'Bearer tokens of everything below /api', generate: randomCredential }),
  consoleTokens: consoleCredential('Console__ListingsToken', 'listing triage'),
  redisUrl: optional(secretUrl('REDIS_URL', ['redis', 'rediss'], { summary: 'Redis, for counting requests; without it Postgres counts them' })),
  requestsPerMinute: integer('RateLimit__PerMinute', {
    summary: 'Requests below /api in 60 seconds from one address; those with a valid token are counted for that token and address',
    min: 1,
    max: 1_000_000,
    default: 300,
  }),
  linkPattern,
  rawMailsDays: integer('Retention__RawMailsDays', { summary: 'Days that alert mails are kept as they came', min: 1, max: 36_500, default: 90 }),
  geocodeCacheDays,
  withdrawnAfterDays,
};

export const settings = { ...workerSettings, ...serviceSettings } as const;

export type ListingsConfig = Values<typeof serviceSettings>;
export type GeocodingConfig = Values<typeof workerSettings>;

/** @throws ConfigError with every fault */
export const readServiceConfig = (environment: Environment): ListingsConfig => readSettings(environment, serviceSettings, eventFaults);

/** @throws ConfigError with every fault */
export const readWorkerConfig = (environment: Environment): GeocodingConfig =>
  readSettings(environment, workerSettings, ({ geocodingProvider, geocodingApiKey }) =>
    geocodingProvider === 'google' && geocodingApiKey === undefined ? ['Geocoding__ApiKey is required when Geocoding__Provider is google'] : [],
  );
