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

/** A change back within this time takes the lesson of the change before it back. */
const undoMs = 10 * 60_000;

type Decision = { readonly id: string; readonly status: LinkStatus; readonly now: Date };

/** Sets the status, teaches, and marks the score stale in one transaction; an unchanged status does nothing. @returns false when no link has the id */
export const changeStatus = (store: Pick<ScoreStore, 'decide'>, { id, status, now }: Decision): Promise<boolean> =>
  store.decide(async (decision) => {
    const link = await decision.lock(id);
    if (!link || link.status === status) return link !== undefined;
    if (link.taught && link.statusBefore === status && link.decidedAt && now.getTime() - link.decidedAt.getTime() <= undoMs) {
      await decision.unteach(link.taught);
      await decision.setStatus(id, status, { before: null, at: now, taught: undefined });
      return true;
    }
    const lesson = lessons[status];
    const taught = lesson
      ? { authors: await decision.teachAuthors(id, lesson.author), keywords: await decision.teachKeywords(keywordsOf(link.title), lesson.keyword) }
      : { authors: [], keywords: [] };
    await decision.setStatus(id, status, { before: link.status, at: now, taught });
    return true;
  });
