// Asks a page for its title, description and picture, for a bookmark that is added by its address alone.
import { describeFetchError, type PublicFetch } from '../../platform/http/public-fetch.ts';
import type { Log } from '../../platform/log.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { charsetNamed, isKnownCharset, textOf } from '../files/charset.ts';
import { factsOf, type PageFacts } from './page.ts';

const timeoutMs = 5000;
const maxBytes = 2 * 1_048_576;
const atOnce = 8;
const nothing: PageFacts = { title: '', description: '', picture: '' };

export type Pages = ReturnType<typeof createPages>;

export function createPages(fetchPublic: PublicFetch, { log, stopping }: { readonly log: Log; readonly stopping: AbortSignal }) {
  const places = createSemaphore(atOnce);
  const ask = async (url: URL): Promise<PageFacts> => {
    const { status, url: final, contentType, body } = await fetchPublic(url, { signal: stopping, timeoutMs, maxBytes });
    if (status < 200 || status > 299 || !/^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return nothing;
    return factsOf(await decoded(body, contentType), final);
  };
  return {
    /** Empty texts where the page cannot be had: a bookmark is stored all the same. */
    async facts(address: string): Promise<PageFacts> {
      if (!(await places.acquire(1, timeoutMs))) return nothing;
      try {
        return await ask(new URL(address));
      } catch (error) {
        log.info({ reason: describeFetchError(error) }, 'fetching a page failed, bookmark stored without its facts');
        return nothing;
      } finally {
        places.release(1);
      }
    },
  };
}

async function decoded(body: Buffer, contentType: string): Promise<string> {
  const charset = charsetNamed(contentType);
  let text = '';
  for await (const part of textOf(oneOf(body), charset !== undefined && isKnownCharset(charset) ? charset : undefined)) text += part;
  return text;
}

async function* oneOf(body: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(body);
}
