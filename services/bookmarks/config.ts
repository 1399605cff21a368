// The bookmark catalogue's settings.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import { addressRanges, choice, commonSettings, consoleCredential, integer, randomCredential, secretList } from '../platform/config/settings.ts';
import { eventFaults, eventSettings } from '../platform/events/events.ts';

/** Settings of a process that asks for pages. */
export const pageSettings = {
  allowedAddresses: addressRanges('Pages__AllowedAddresses', {
    summary: 'Addresses and CIDR ranges of private networks whose pages may be fetched and checked; all public ones may',
    default: [],
  }),
} as const;

/** Settings of the worker that looks for dead links. */
const checkSettings = {
  checkDays: integer('DeadLinks__IntervalDays', { summary: 'Days between two checks of a page that answers', min: 1, max: 3650, default: 30 }),
  deadAfter: integer('DeadLinks__Failures', {
    summary: 'Failed checks in a row after which a page is dead; each is a day or more after the one before',
    min: 1,
    max: 100,
    default: 3,
  }),
} as const;

export const workerSettings = { databaseUrl: commonSettings.databaseUrl, eventsUrl: eventSettings.eventsUrl, ...pageSettings, ...checkSettings } as const;
export type CheckConfig = Values<typeof workerSettings>;

const compatibilitySettings = {
  karakeep: choice('Compatibility__Karakeep', ['off', 'on'], {
    summary: "Whether /karakeep/api/v1 answers in the form of Karakeep's REST, with a key of Bookmarks__ApiKeys, for the browser extension floccus",
    default: 'off',
  }),
} as const;

export const settings = {
  ...commonSettings,
  ...pageSettings,
  ...checkSettings,
  ...eventSettings,
  ...compatibilitySettings,
  consoleKeys: consoleCredential('Console__BookmarksKey', 'bookmark catalogue'),
  apiKeys: secretList('Bookmarks__ApiKeys', { summary: 'Keys that may write, in the header X-Api-Key; reading needs none', generate: randomCredential }),
} as const;

export type BookmarksConfig = Values<typeof settings>;

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): BookmarksConfig => readSettings(environment, settings, eventFaults);

/** @throws ConfigError with every fault */
export const readWorkerConfig = (environment: Environment): CheckConfig => readSettings(environment, workerSettings);
