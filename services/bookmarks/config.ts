// The bookmark catalogue's settings.
import { type Environment, readSettings, type Values } from '../platform/config/config.ts';
import { commonSettings, randomCredential, secretList } from '../platform/config/settings.ts';

export const settings = {
  ...commonSettings,
  apiKeys: secretList('Bookmarks__ApiKeys', { summary: 'Keys that may write, in the header X-Api-Key; reading needs none', generate: randomCredential }),
} as const;

export type BookmarksConfig = Values<typeof settings>;

/** @throws ConfigError with every fault */
export const readConfig = (environment: Environment): BookmarksConfig => readSettings(environment, settings);
