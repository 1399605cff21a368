// Totals of links by status, newsletters and authors, and the newest newsletters.
import { route } from '../platform/http/route.ts';
import { Stats } from './contract.ts';
import { success, Success } from './envelope.ts';
import type { LinkStore } from './links/store.ts';
import type { NewsletterLists } from './newsletters/store.ts';

const recentNewsletters = 5;

export const statsRoute = (newsletters: NewsletterLists, links: LinkStore) =>
  route({
    method: 'get',
    path: '/api/stats',
    operationId: 'getStatistics',
    summary: 'How many links, newsletters and authors there are, and the newest newsletters',
    description: 'Counts are exact. Refused mails are not among the newsletters.',
    answers: { 200: Success(Stats) },
    async handle() {
      const [totals, recent] = await Promise.all([links.totals(), newsletters.stored({ limit: recentNewsletters, offset: 0 })]);
      const { totalLinks = 0, totalNewsletters = 0, totalAuthors = 0, Awaiting = 0, Liked = 0, Discarded = 0, DiscardedAfterReview = 0 } = totals ?? {};
      const recentItems = recent.map(({ id, title, receivedDate, linkCount }) => ({ id, title, receivedDate, linkCount }));
      const statusCounts = { Awaiting, Liked, Discarded, DiscardedAfterReview };
      return success({ statusCounts, totalLinks, totalNewsletters, totalAuthors, recentNewsletters: recentItems });
    },
  });
