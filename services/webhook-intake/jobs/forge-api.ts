// The forge's deliveries API, as GitHub documents it: "REST API endpoints for webhook deliveries", "Rate limits", "Using pagination".
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { sleepUntil } from '../../platform/time.ts';

/** One attempt at a delivery, as the forge lists it. */
const Attempt = z.object({
  id: z.int(),
  /** Of the delivery: the same for every attempt at it. */
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

export type ForgeApi = ReturnType<typeof createForgeApi>;

/** @param options `url` such as https://api.github.com. A hook is `repos/{owner}/{repo}/hooks/{id}`, `orgs/{org}/hooks/{id}` or `app/hook`. */
export function createForgeApi({ url, token, clock }: { readonly url: string; readonly token: Secret; readonly clock: () => Date }) {
  const headers = { accept: 'application/vnd.github+json', authorization: `Bearer ${token.reveal()}`, 'user-agent': 'signalbox' };

  /** Waits where it is told to. @throws RateLimited when the deadline comes first */
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

  return {
    /** Attempts page by page, newest first. */
    async *deliveries(hook: string, deadline: AbortSignal): AsyncGenerator<Attempt[], undefined> {
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const response = await ask('GET', `${hook}/deliveries?per_page=${pageSize}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`, deadline);
        if (!response.ok) throw await refusal(hook, response);
        cursor = nextCursor(response.headers.get('link'));
        yield z.array(Attempt).parse(await response.json());
      }
      return undefined;
    },

    /** @returns false when the forge will not, as it is too old for one */
    async redeliver(hook: string, id: number, deadline: AbortSignal): Promise<boolean> {
      const response = await ask('POST', `${hook}/deliveries/${id}/attempts`, deadline);
      if (![202, 400, 404, 422].includes(response.status)) throw await refusal(hook, response);
      await response.body?.cancel();
      return response.status === 202;
    },
  };
}

async function refusal(hook: string, response: Response): Promise<Error> {
  await response.body?.cancel();
  return new Error(`the forge answered ${response.status} for the deliveries of ${hook}`);
}

/** The address itself is not followed: the token goes to the one that is configured only. */
function nextCursor(link: string | null): string | undefined {
  const next = /<([^>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
  return next === undefined ? undefined : (URL.parse(next)?.searchParams.get('cursor') ?? undefined);
}

/** Undefined when the answer is none of a limit. */
function waitOf({ status, headers }: Response, now: Date): number | undefined {
  if (status !== 429 && status !== 403) return undefined;
  const retryAfter = headers.get('retry-after');
  if (retryAfter !== null) return (/^\d+$/.test(retryAfter) ? Number(retryAfter) : usualWaitMs / 1000) * 1000;
  if (headers.get('x-ratelimit-remaining') === '0') return Math.max(1000, Number(headers.get('x-ratelimit-reset')) * 1000 - now.getTime()) || usualWaitMs;
  return status === 429 ? usualWaitMs : undefined;
}
