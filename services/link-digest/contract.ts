// Everything the link digest says on the wire.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Timestamp } from '../platform/schema.ts';

export const linkStatuses = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'] as const;
const LinkStatus = z.enum(linkStatuses, { error: `must be one of ${linkStatuses.join(', ')}` });
export type LinkStatus = z.output<typeof LinkStatus>;

/** A link as lists show it. */
export const LinkItem = z
  .object({
    id: z.string(),
    url: z.string(),
    title: z.string(),
    status: LinkStatus,
    priorityScore: z.number(),
    firstSeen: Timestamp,
    lastSeen: Timestamp,
    authorNames: z.array(z.string()),
    newsletterAppearanceCount: Count,
  })
  .meta({
    id: 'LinkItem',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        url: 'https://blog.example/postgres-partitions',
        title: 'Partitions that nobody notices',
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

/** `title` is null where the mail has no subject. */
const NewsletterSummary = z.object({ id: z.string(), title: z.string().nullable(), receivedDate: Timestamp }).meta({
  id: 'NewsletterSummary',
  examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', title: 'Database weekly, no. 312', receivedDate: '2026-03-15T12:00:00.000Z' }],
});

export const LinkDetail = LinkItem.omit({ authorNames: true, newsletterAppearanceCount: true })
  .extend({
    authors: z.array(z.object({ id: z.string(), name: z.string() })),
    /** Newest first. */
    newsletters: z.array(NewsletterSummary),
  })
  .meta({
    id: 'LinkDetail',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        url: 'https://blog.example/postgres-partitions',
        title: 'Partitions that nobody notices',
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

export const StatusChange = z.object({ status: LinkStatus }).meta({ id: 'StatusChange', examples: [{ status: 'Liked' }] });

/** The same statuses, each with how many there are of it. */
export const StatusCounts = z
  .object({ Awaiting: Count, Liked: Count, Discarded: Count, DiscardedAfterReview: Count })
  .meta({ id: 'StatusCounts', examples: [{ Awaiting: 41, Liked: 12, Discarded: 80, DiscardedAfterReview: 3 }] });
export type StatusCounts = z.output<typeof StatusCounts>;

const Factor = { value: z.number(), weight: z.number(), contribution: z.number(), sampleSize: Count };
/** `base` and the contributions add up to the score, which is clamped to 0 to 10 and rounded to two digits. */
export const ScoreExplanation = z
  .object({
    id: z.string(),
    priorityScore: z.number(),
    base: z.number(),
    factors: z.object({
      author: z.object(Factor).meta({ description: 'What became of other links of its authors; of as many reviewed links' }),
      keyword: z.object({ ...Factor, keywords: z.array(z.object({ keyword: z.string(), weight: z.number() })) }).meta({
        description: 'What was learned about words of its title; of as many words',
      }),
      recency: z.object(Factor).meta({ description: 'How new it is; of its one first appearance' }),
      popularity: z.object(Factor).meta({ description: 'How many newsletters hold it; of as many' }),
    }),
  })
  .meta({
    id: 'ScoreExplanation',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        priorityScore: 7.35,
        base: 5,
        factors: {
          author: { value: 0.5, weight: 2, contribution: 1, sampleSize: 4 },
          keyword: { value: 0.4, weight: 1.5, contribution: 0.6, sampleSize: 1, keywords: [{ keyword: 'postgres', weight: 0.4 }] },
          recency: { value: 1, weight: 0.5, contribution: 0.5, sampleSize: 1 },
          popularity: { value: 0.5, weight: 0.5, contribution: 0.25, sampleSize: 2 },
        },
      },
    ],
  });

export const Stats = z
  .object({
    statusCounts: StatusCounts,
    totalLinks: Count,
    totalNewsletters: Count,
    totalAuthors: Count,
    recentNewsletters: z.array(NewsletterSummary.extend({ linkCount: Count })),
  })
  .meta({
    id: 'DigestStatistics',
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

const LinkOfList = z.object({ id: z.string(), url: z.string(), title: z.string(), status: LinkStatus }).meta({
  id: 'LinkOfList',
  examples: [
    {
      id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
      url: 'https://blog.example/postgres-partitions',
      title: 'Partitions that nobody notices',
      status: 'Awaiting',
    },
  ],
});
export type LinkOfList = z.output<typeof LinkOfList>;

/** `reason` is there of mails that were refused alone; of these `title` and `destinationEmail` are null, since nothing of them is read. */
export const NewsletterItem = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    receivedDate: Timestamp,
    destinationEmail: z.string().nullable(),
    linkCount: Count,
    reason: z.string().optional(),
  })
  .meta({
    id: 'NewsletterItem',
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
  .extend({ links: z.array(LinkOfList) })
  .meta({
    id: 'NewsletterDetail',
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
            title: 'Partitions that nobody notices',
            status: 'Awaiting',
          },
        ],
      },
    ],
  });

export const AuthorItem = z
  .object({
    id: z.string(),
    name: z.string(),
    handle: z.string().nullable(),
    customDomain: z.string().nullable(),
    linkCount: Count,
  })
  .meta({ id: 'AuthorItem', examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Ada Example', handle: 'ada', customDomain: null, linkCount: 3 }] });
export type AuthorItem = z.output<typeof AuthorItem>;
export const AuthorDetail = AuthorItem.extend({ interactionCounts: StatusCounts, links: z.array(LinkOfList) }).meta({
  id: 'AuthorDetail',
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
  .object({ username: z.string(), password: z.string() })
  .meta({ id: 'Credentials', examples: [{ username: 'admin', password: 'the password of Admin__PasswordHash' }] });
export const Login = z
  .object({
    token: z.string(),
    expiresAt: Timestamp,
    user: z.object({ id: z.string(), username: z.string(), lastLogin: Timestamp }),
  })
  .meta({
    id: 'Login',
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
