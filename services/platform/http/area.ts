// Areas of an app: path prefixes that share a credential and rate limits, known routes or not.
import type { IncomingHttpHeaders } from 'node:http';
import type { Guard } from './credentials.ts';
import type { Method } from './route.ts';

export type Limit = {
  /** Counts one request of a client address or other key; throws the 429 problem when the window is used up. @returns answer headers */
  count(key: string): Promise<Readonly<Record<string, string>>>;
};

export type Area = {
  /** `/api` covers `/api` and everything below it; `/` everything. */
  readonly prefix: `/${string}`;
  readonly methods?: readonly Method[];
  /** Counted before the credential is looked at. */
  readonly limit?: Limit;
  /** Checked for every path below the prefix, known or not, unless the route declares another `access`. */
  readonly guard?: Guard;
  /** Counted by a key of the request once its credential was accepted: a limit for each token. */
  readonly quota?: { readonly limit: Limit; readonly keyOf: (headers: IncomingHttpHeaders) => string };
};

/** The first area that covers a path; prefixes are compared in lower case, which can only make them cover more. */
export function findArea(areas: readonly Area[], method: string, path: string): Area | undefined {
  const lower = path.toLowerCase();
  return areas.find(({ prefix, methods }) => {
    const start = prefix === '/' ? '' : prefix.toLowerCase();
    const covers = lower === start || lower.startsWith(`${start}/`);
    return covers && (methods === undefined || methods.some((one) => one === method.toLowerCase() || (one === 'get' && method === 'HEAD')));
  });
}
