// A decision on a link, and what it teaches about the authors and about the words of the title.
import type { LinkStatus } from '../contract.ts';
import { keywordsOf } from './keywords.ts';
import type { ScoreStore } from './store.ts';

/** Added to weights, which stay between -1 and 1; null teaches nothing. */
const lessons: Readonly<Record<LinkStatus, { readonly author: number; readonly keyword: number } | null>> = {
  Awaiting: null,
  Liked: { author: 0.2, keyword: 0.1 },
  DiscardedAfterReview: { author: -0.1, keyword: -0.05 },
  Discarded: { author: -0.2, keyword: -0.1 },
};

/** The status, what it teaches and the end of the score are one; the same status again changes nothing. @returns false when there is no such link */
export const changeStatus = (store: Pick<ScoreStore, 'decide'>, id: string, status: LinkStatus): Promise<boolean> =>
  store.decide(async (decision) => {
    const link = await decision.lock(id);
    if (!link || link.status === status) return link !== undefined;
    await decision.setStatus(id, status);
    const lesson = lessons[status];
    if (lesson) {
      await decision.teachAuthors(id, lesson.author);
      await decision.teachKeywords(keywordsOf(link.title), lesson.keyword);
    }
    return true;
  });
