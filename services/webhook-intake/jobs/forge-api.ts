// The forge's API: deliveries of webhooks as GitHub documents them ("REST API endpoints for webhook deliveries", "Rate limits", "Using pagination"),
// and lists of objects, which Gitea and Forgejo have under the same paths below /api/v1.
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { isGiteaApi } from '../../forges/gitea.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { sleepUntil } from '../../platform/time.ts';

/** One attempt at a delivery, as the forge lists it. */
const Attempt = z.object({
  id: z.int(),
  /** The delivery's id, the same for every attempt. */
  guid: z.string(),
  delivered_at: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  /** 0 where no answer came. */
  status_code: z.int(),
});
export type Attempt = z.output<typeof Attempt>;

const timeoutMs = 15_000;
const pageSize = 100;
/** Where the forge says no time: as it asks for. */
const usualWaitMs = 60_000;

/** Waiting for it would take longer than there is time. */
export class RateLimited extends Error {}

/** The forge has no such object, or no such API. */
export class NotFound extends Error {}

export type ForgeApi = ReturnType<typeof createForgeApi>;

type ForgeApiOptions = { readonly url: string; readonly token: Secret; readonly clock: () => Date };

/** @param options `url` such as https://api.github.com. A hook is `repos/{owner}/{repo}/hooks/{id}`, `orgs/{org}/hooks/{id}` or `app/hook`. */
export function createForgeApi({ url, token, clock }: ForgeApiOptions) {
  const isGitea = isGiteaApi(url);
  const authorization = `${isGitea ? 'token' : 'Bearer'} ${token.reveal()}`;
  const headers = { accept: isGitea ? 'application/json' : 'application/vnd.github+json', authorization, 'user-agent': 'signalbox' };

  /** Waits as the answer asks. @throws RateLimited when the deadline comes first */
  async function ask(method: 'GET' | 'POST', path: string, deadline: AbortSignal): Promise<Response> {
    for (;;) {
      const signal = AbortSignal.any([deadline, AbortSignal.timeout(timeoutMs)]);
      const response = await fetch(`${url.replace(/\/$/, '')}/${path}`, { method, headers, signal });
      const waitMs = waitOf(response, clock());
      if (waitMs === undefined) return response;
      await response.body?.cancel();
      if (!(await sleepUntil(deadline, waitMs))) throw new RateLimited(`the forge's rate limit is used up for ${Math.ceil(waitMs / 1000)} s`);
    }
  }

  /** @throws NotFound for 404 and 410, with the path in its message */
  async function read(path: string, deadline: AbortSignal): Promise<Response> {
    const response = await ask('GET', path, deadline);
    if (response.ok) return response;
    const message = await refusalOf(path.replace(/\?.*/, ''), response);
    throw [404, 410].includes(response.status) ? new NotFound(message) : new Error(message);
  }

  return {
    isGitea,

    /** @throws NotFound */
    async object(path: string, deadline: AbortSignal): Promise<JsonObject> {
      return z.record(z.string(), z.unknown()).parse(await (await read(path, deadline)).json());
    },

    /**
     * The objects of a list, page by page; the list itself, or the one in an object beside its count. Gitea has null for some that are empty.
     * @throws NotFound
     */
    async *pages(path: string, parameters: Readonly<Record<string, string>>, deadline: AbortSignal): AsyncGenerator<JsonObject[], undefined> {
      let page: string | undefined = '1';
      while (page !== undefined) {
        const size = isGitea ? { limit: '50' } : { per_page: String(pageSize) };
        const response = await read(`${path}?${String(new URLSearchParams({ ...parameters, ...size, page }))}`, deadline);
        page = nextPage(response, 'page');
        const body: unknown = await response.json();
        yield z
          .array(z.unknown())
          .parse((isObject(body) ? Object.values(body).find(Array.isArray) : body) ?? [])
          .filter(isObject);
      }
      return undefined;
    },

    /** Attempts page by page, newest first. */
    async *deliveries(hook: string, deadline: AbortSignal): AsyncGenerator<Attempt[], undefined> {
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const response = await read(`${hook}/deliveries?per_page=${pageSize}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, deadline);
        cursor = nextPage(response, 'cursor');
        yield z.array(Attempt).parse(await response.json());
      }
      return undefined;
    },

    /** @returns false when the forge refuses, as the attempt is too old or gone */
    async redeliver(hook: string, id: number, deadline: AbortSignal): Promise<boolean> {
      const response = await ask('POST', `${hook}/deliveries/${id}/attempts`, deadline);
      if (![202, 400, 404, 422].includes(response.status)) throw new Error(await refusalOf(hook, response));
      await response.body?.cancel();
      return response.status === 202;
    },
  };
}

const hints: ReadonlyMap<number, string> = new Map([
  [401, 'it does not know the token, or the token has expired'],
  [403, 'the token may not do this: look at its scopes'],
  [404, 'no such object, no such API on this forge, or the token may not read it'],
]);

async function refusalOf(path: string, response: Response): Promise<string> {
  await response.body?.cancel();
  const hint = hints.get(response.status);
  return `the forge answered ${response.status} for ${path}${hint === undefined ? '' : `: ${hint}`}`;
}

/** The value of `parameter` in the link to the next page. The link itself is not followed: the token goes to the configured address only. */
function nextPage({ headers }: Response, parameter: 'cursor' | 'page'): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return next === undefined ? undefined : (URL.parse(next)?.searchParams.get(parameter) ?? undefined);
}

/** Undefined when the answer is not about a limit. */
function waitOf({ status, headers }: Response, now: Date): number | undefined {
  if (status !== 429 && status !== 403) return undefined;
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) return (/^\d+$/.test(retryAfter) ? Number(retryAfter) : usualWaitMs / 1000) * 1000;
  if (headers.get('x-ratelimit-remaining') === '0') return Math.max(1000, Number(headers.get('x-ratelimit-reset')) * 1000 - now.getTime()) || usualWaitMs;
  return status === 429 ? usualWaitMs : undefined;
}
