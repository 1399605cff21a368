// Schemas of authors: their list, and one with links and decisions on them.
import { z } from 'zod';
import { Id } from '../../platform/schema.ts';
import { LinkCount, LinkOfList, said, saidOrNull, StatusCounts } from '../contract.ts';

export const AuthorItem = z
  .object({
    id: Id('The id of the author'),
    name: said('The name of a byline, else the handle'),
    handle: saidOrNull('The name on a platform, without `@`, or null'),
    customDomain: saidOrNull("The author's own host, or null"),
    linkCount: LinkCount,
    interactionCounts: StatusCounts.optional().meta({ description: 'The decisions on the links of the author; present with `include=interactions`' }),
  })
  .meta({
    id: 'AuthorItem',
    description: 'An author as lists show one',
    examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Ada Example', handle: 'ada', customDomain: null, linkCount: 3 }],
  });
export type AuthorItem = z.output<typeof AuthorItem>;
export const AuthorDetail = AuthorItem.extend({
  interactionCounts: StatusCounts,
  links: z.array(LinkOfList).meta({ description: 'The links of the author, newest first' }),
}).meta({
  id: 'AuthorDetail',
  description: 'An author with the decisions on his links',
  examples: [
    {
      id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
      name: 'Ada Example',
      handle: 'ada',
      customDomain: null,
      linkCount: 3,
      interactionCounts: { Awaiting: 1, Liked: 2, Discarded: 0, DiscardedAfterReview: 0 },
      links: [],
    },
  ],
});
