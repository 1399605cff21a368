// The link digest's schemas and problems.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';
import { Id, said, saidOrNull, Score, ScoreParts } from './scoring/contract.ts';

export const linkStatuses = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'] as const;
const LinkStatus = z
  .enum(linkStatuses, { error: `must be one of ${linkStatuses.join(', ')}` })
  .meta({ id: 'LinkStatus', description: 'The decision on a link', examples: ['Awaiting'] });

export type LinkStatus = z.output<typeof LinkStatus>;

/** A link as lists show it. */
export const LinkItem = z
  .object({
    id: Id('The id of the link'),
    url: said('The address without wrappers and tracking parameters'),
    title: said('The title'),
    status: LinkStatus,
    priorityScore: Score,
    firstSeen: Timestamp.meta({ description: 'When the first newsletter with the link was received' }),
    lastSeen: Timestamp.meta({ description: 'When the last newsletter with the link was received' }),
    authorNames: z.array(z.string()).meta({ description: 'The names of the authors, in alphabetical order' }),
    newsletterAppearanceCount: Count.meta({ description: 'How many newsletters hold the link' }),
    score: ScoreParts.optional().meta({ description: 'The parts of the score; present with `include=score`' }),
  })
  .meta({
    id: 'LinkItem',
    description: 'A link as lists show it',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        url: 'https://blog.example/postgres-partitions',
        title: 'Partitions without downtime',
        status: 'Awaiting',
        priorityScore: 7.35,
        firstSeen: '2026-03-15T12:00:00.000Z',
        lastSeen: '2026-03-15T12:00:00.000Z',
        authorNames: ['Ada Example'],
        newsletterAppearanceCount: 2,
      },
    ],
  });
export type LinkItem = z.output<typeof LinkItem>;

const NewsletterTitle = saidOrNull('The subject of the mail, or null where it has none');
const ReceivedDate = Timestamp.meta({ description: 'The date of the mail, else its time of reception' });
const LinkCount = Count.meta({ description: 'How many links there are' });
const NewsletterSummary = z.object({ id: Id('The id of the newsletter'), title: NewsletterTitle, receivedDate: ReceivedDate }).meta({
  id: 'NewsletterSummary',
  description: 'A newsletter in short',
  examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', title: 'Database weekly, no. 312', receivedDate: '2026-03-15T12:00:00.000Z' }],
});

const AuthorSummary = z
  .object({ id: Id('The id of the author'), name: said('The name of the author') })
  .meta({ id: 'AuthorSummary', description: 'An author in short' });

export const LinkDetail = LinkItem.omit({ authorNames: true, newsletterAppearanceCount: true, score: true })
  .extend({
    authors: z.array(AuthorSummary).meta({ description: 'The authors, in alphabetical order' }),
    newsletters: z.array(NewsletterSummary).meta({ description: 'The newsletters that hold the link, newest first' }),
  })
  .meta({
    id: 'LinkDetail',
    description: 'A link with its authors and newsletters',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        url: 'https://blog.example/postgres-partitions',
        title: 'Partitions without downtime',
        status: 'Awaiting',
        priorityScore: 7.35,
        firstSeen: '2026-03-15T12:00:00.000Z',
        lastSeen: '2026-03-15T12:00:00.000Z',
        authors: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Ada Example' }],
        newsletters: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', title: 'Database weekly, no. 312', receivedDate: '2026-03-15T12:00:00.000Z' }],
      },
    ],
  });
export type LinkDetail = z.output<typeof LinkDetail>;

export const StatusChange = z.object({ status: LinkStatus }).meta({ id: 'StatusChange', description: 'A decision on a link', examples: [{ status: 'Liked' }] });

export const maxBulkIds = 500;
export const BulkStatusChange = z
  .object({
    ids: z
      .array(z.string())
      .min(1, { error: 'must hold at least one id' })
      .max(maxBulkIds, { error: `must hold at most ${maxBulkIds} ids` })
      .meta({ description: `The ids of the links, 1 to ${maxBulkIds}; unknown ids and repeats are ignored` }),
    status: LinkStatus,
  })
  .meta({
    id: 'BulkStatusChange',
    description: 'One decision on several links',
    examples: [{ ids: ['019b76da-a800-7000-8000-5f3c1e2d4a6b', '019b76da-a801-7000-8000-5f3c1e2d4a6b'], status: 'Discarded' }],
  });
export const BulkResult = z
  .object({ updated: Count.meta({ description: 'How many links had another status' }) })
  .meta({ id: 'BulkResult', description: 'The effect of a decision on several links', examples: [{ updated: 2 }] });

/** The number of links of each status. */
export const StatusCounts = z
  .object({
    Awaiting: Count.meta({ description: 'How many links wait for a decision' }),
    Liked: Count.meta({ description: 'How many links are liked' }),
    Discarded: Count.meta({ description: 'How many links are discarded' }),
    DiscardedAfterReview: Count.meta({ description: 'How many links are discarded after review' }),
  })
  .meta({
    id: 'StatusCounts',
    description: 'The number of links of each status',
    examples: [{ Awaiting: 41, Liked: 12, Discarded: 80, DiscardedAfterReview: 3 }],
  });
export type StatusCounts = z.output<typeof StatusCounts>;

/** `base` and the contributions add up to the score, which is clamped to 0 to 10 and rounded to two digits. */
const RecentNewsletter = NewsletterSummary.extend({ linkCount: LinkCount }).meta({
  id: 'RecentNewsletter',
  description: 'A newsletter in short, with the number of its links',
  examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', title: 'Database weekly, no. 312', receivedDate: '2026-03-15T12:00:00.000Z', linkCount: 15 }],
});
export const Stats = z
  .object({
    statusCounts: StatusCounts,
    totalLinks: Count.meta({ description: 'How many links there are' }),
    totalNewsletters: Count.meta({ description: 'How many newsletters were stored' }),
    totalAuthors: Count.meta({ description: 'How many authors there are' }),
    recentNewsletters: z.array(RecentNewsletter).meta({ description: 'The five newest newsletters' }),
  })
  .meta({
    id: 'DigestStatistics',
    description: 'Numbers of links, newsletters and authors',
    examples: [
      {
        statusCounts: { Awaiting: 41, Liked: 12, Discarded: 80, DiscardedAfterReview: 3 },
        totalLinks: 136,
        totalNewsletters: 9,
        totalAuthors: 57,
        recentNewsletters: [
          { id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', title: 'Database weekly, no. 312', receivedDate: '2026-03-15T12:00:00.000Z', linkCount: 15 },
        ],
      },
    ],
  });
export type Stats = z.output<typeof Stats>;

const LinkOfList = LinkItem.pick({ id: true, url: true, title: true, status: true }).meta({
  id: 'LinkOfList',
  description: 'A link in short',
  examples: [
    {
      id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
      url: 'https://blog.example/postgres-partitions',
      title: 'Partitions without downtime',
      status: 'Awaiting',
    },
  ],
});
export type LinkOfList = z.output<typeof LinkOfList>;

/** A refused mail is not read: its `title` and `destinationEmail` are null. */
export const NewsletterItem = z
  .object({
    id: Id('The id of the newsletter or refused mail'),
    title: NewsletterTitle,
    receivedDate: ReceivedDate,
    destinationEmail: saidOrNull('The first address of the To header, or null'),
    linkCount: LinkCount,
    reason: said('Why the mail was refused; absent in newsletters').optional(),
  })
  .meta({
    id: 'NewsletterItem',
    description: 'A newsletter, or a refused mail, whose `title` and `destinationEmail` are null',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Database weekly, no. 312',
        receivedDate: '2026-03-15T12:00:00.000Z',
        destinationEmail: 'reader@example.test',
        linkCount: 15,
      },
    ],
  });
export type NewsletterItem = z.output<typeof NewsletterItem>;
export const NewsletterDetail = NewsletterItem.omit({ reason: true })
  .extend({ links: z.array(LinkOfList).meta({ description: 'The links in the order of the mail' }) })
  .meta({
    id: 'NewsletterDetail',
    description: 'A newsletter with its links',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Database weekly, no. 312',
        receivedDate: '2026-03-15T12:00:00.000Z',
        destinationEmail: 'reader@example.test',
        linkCount: 1,
        links: [
          {
            id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
            url: 'https://blog.example/postgres-partitions',
            title: 'Partitions without downtime',
            status: 'Awaiting',
          },
        ],
      },
    ],
  });

export const AuthorItem = z
  .object({
    id: Id('The id of the author'),
    name: said('The name of a byline, else the handle'),
    handle: saidOrNull('The name on a platform, without `@`, or null'),
    customDomain: saidOrNull("The author's own host, or null"),
    linkCount: LinkCount,
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

export const Credentials = z
  .object({ username: said('The value of `Digest__AdminUsername`'), password: said('The password of `Digest__AdminPasswordHash`') })
  .meta({
    id: 'Credentials',
    description: 'The name and the password of the administrator',
    examples: [{ username: 'admin', password: 'the password of Digest__AdminPasswordHash' }],
  });
export const Login = z
  .object({
    token: said('The access token, for `Authorization: Bearer <token>`'),
    expiresAt: Timestamp.meta({ description: 'When the token expires' }),
    user: z
      .object({
        id: Id('The id of the administrator'),
        username: said('The name of the administrator'),
        lastLogin: Timestamp.meta({ description: 'When this login happened' }),
      })
      .meta({ id: 'Administrator', description: 'The administrator' }),
  })
  .meta({
    id: 'Login',
    description: 'An access token and its holder',
    examples: [
      {
        token: 'eyJhbGciOiJIUzI1NiJ9.e30.…',
        expiresAt: '2026-03-15T12:00:00.000Z',
        user: { id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', username: 'admin', lastLogin: '2026-03-15T12:00:00.000Z' },
      },
    ],
  });

export const Problems = problems({
  invalidQuery: { status: 422, title: 'The query is not valid' },
  linkMissing: { status: 404, title: 'No such link' },
  newsletterMissing: { status: 404, title: 'No such newsletter' },
  authorMissing: { status: 404, title: 'No such author' },
});
