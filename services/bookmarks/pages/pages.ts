// Fetches the title, description and picture of a page, for a bookmark that is added by its address alone.
import { describeFetchError, type PublicFetch } from '../../platform/http/public-fetch.ts';
import type { Log } from '../../platform/log.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { charsetParameter, isKnownCharset, textOf } from '../files/charset.ts';
import { factsOf, type PageFacts } from './page.ts';

const timeoutMs = 5000;
const maxBytes = 2 * 1_048_576;
const atOnce = 8;
const noFacts: PageFacts = { title: '', description: '', picture: '' };

export type Pages = ReturnType<typeof createPages>;

export function createPages(fetchPublic: PublicFetch, { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal }) {
  const slots = createSemaphore(atOnce);
  const ask = async (url: URL): Promise<PageFacts> => {
    const { status, url: final, contentType, body } = await fetchPublic(url, { signal: stopping, timeoutMs, maxBytes });
    if (status < 200 || status > 299 || !/^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return noFacts;
    return factsOf(await decoded(body, contentType), final);
  };
  return {
    /** Never rejects: the texts are empty when the page cannot be fetched, since the bookmark is stored all the same. */
    async facts(address: string): Promise<PageFacts> {
      if (!(await slots.acquire(1, timeoutMs))) return noFacts;
      try {
        return await ask(new URL(address));
      } catch (error) {
        log.info({ reason: describeFetchError(error) }, 'fetching a page failed, bookmark stored without its title and description');
        return noFacts;
      } finally {
        slots.release(1);
      }
    },
  };
}

async function decoded(body: Buffer, contentType: string): Promise<string> {
  const charset = charsetParameter(contentType);
  const declared = charset !== undefined && isKnownCharset(charset) ? charset : undefined;
  let text = '';
  for await (const part of textOf([body], declared)) text += part;
  return text;
}
