// A decision on a link, and the weights that its authors and title words learn from it.
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

/** Sets the status, teaches, and marks the score stale in one transaction; an unchanged status does nothing. @returns false when no link has the id */
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
