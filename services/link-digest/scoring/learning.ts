// What a decision on a link teaches about its authors and about the words of its title.
import type { LinkStatus } from '../contract.ts';

/** Added to weights, which stay between -1 and 1; null teaches nothing. */
export const lessons: Readonly<Record<LinkStatus, { readonly author: number; readonly keyword: number } | null>> = {
  Awaiting: null,
  Liked: { author: 0.2, keyword: 0.1 },
  DiscardedAfterReview: { author: -0.1, keyword: -0.05 },
  Discarded: { author: -0.2, keyword: -0.1 },
};
