// Follows the event log of the webhook intake from a cursor on, in the order of storing.
import { createCredential } from './credential.ts';
import type { components, operations } from './intake-api.ts';
import { getJson, readAddress, type RequestFailed, withRetries } from './request.ts';

export { RequestFailed } from './request.ts';

export type Event = components['schemas']['Event'];
type Page = components['schemas']['FollowedEventPage'];
type Query = NonNullable<operations['listEvents']['parameters']['query']>;

export type FollowOptions = {
  /** Where the intake is, without `/api/v1`. */
  readonly url: string;
  /** One of `Intake__AccessTokens`. */
  readonly token?: string | undefined;
  /** A file with it, which is read for each request. */
  readonly tokenFile?: string | undefined;
  /** Which events come; all unless given. */
  readonly filter?: Omit<Query, 'before' | 'wait' | 'limit' | 'after'>;
  /** Where to resume; undefined begins with what is stored from now on. */
  readonly cursor?: string | undefined;
  /**
   * Keeps the cursor. It is called once all events before it were handled, which is when the loop asks for another one: a program that stops in
   * between gets some of them again, and misses none.
   */
  readonly saveCursor?: (cursor: string) => void | Promise<void>;
  /** Ends the iteration, without an error of its own; an error of `saveCursor` is thrown even so. */
  readonly signal?: AbortSignal | undefined;
  /** How long the service holds a request while there is no event, up to 60. Default: 25. */
  readonly waitSeconds?: number | undefined;
  /** The time for an answer beyond that. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Called before each pause: the service is unavailable, and is asked again until it is there. */
  readonly onRetry?: (failure: RequestFailed) => void;
};

/** @throws RequestFailed where the service refuses: 401 for the token, 410 for a cursor of a database that was restored to an earlier state */
export async function* followEvents(options: FollowOptions): AsyncGenerator<Event, void, undefined> {
  const { filter = {}, saveCursor, signal, waitSeconds = 25, timeoutMs = 10_000, onRetry } = options;
  const base = readAddress('url', options.url);
  const credential = createCredential({ name: 'token', value: options.token, file: options.tokenFile });

  /** @returns undefined once the signal has ended the iteration */
  const ask = (query: Query): Promise<Page | undefined> =>
    withRetries(
      async () => {
        const url = new URL(`${base}/api/v1/events`);
        for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
        const headers = { Authorization: `token ${await credential()}` };
        return getJson<Page>({ url, headers, timeoutMs: timeoutMs + 1000 * (query.wait ?? 0), signal });
      },
      { attempts: Infinity, signal, onRetry },
    ).catch((error: unknown) => {
      // A pause that is broken off has the signal's reason as its cause.
      if (signal?.aborted && (error === signal.reason || (error instanceof Error && error.cause === signal.reason))) return undefined;
      throw error;
    });

  let { cursor } = options;
  if (cursor === undefined) {
    cursor = (await ask({ limit: 1 }))?.newest;
    if (cursor === undefined) return;
    await saveCursor?.(cursor);
  }
  for (;;) {
    const page = await ask({ ...filter, before: cursor, wait: waitSeconds, limit: 200 });
    if (page === undefined) return;
    for (const event of page.items) {
      if (signal?.aborted) return;
      yield event;
    }
    if (page.newest !== cursor) await saveCursor?.(page.newest);
    cursor = page.newest;
  }
}
