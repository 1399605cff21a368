// The link digest's schemas and problems.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Count, Id, Timestamp } from '../platform/schema.ts';

export const linkStatuses = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'] as const;
const LinkStatus = z
  .enum(linkStatuses, { error: `must be one of ${linkStatuses.join(', ')}` })
  .meta({ id: 'LinkStatus', description: 'The decision on a link', examples: ['Awaiting'] });

export type LinkStatus = z.output<typeof LinkStatus>;

export const said = (description: string) => z.string().meta({ description });
export const saidOrNull = (description: string) => z.string().nullable().meta({ description });
export const Score = z.number().meta({ description: 'The score from 0 to 10, two digits' });

const Factor = {
  value: z.number().meta({ description: 'The value of the factor, -1 to 1' }),
  weight: z.number().meta({ description: 'The weight of the factor, a setting' }),
  contribution: z.number().meta({ description: 'The amount that the factor adds to the score' }),
  sampleSize: Count.meta({ description: 'How many observations the value is made of' }),
};
const ScoreFactor = z.object(Factor).meta({ id: 'ScoreFactor', description: 'A part of a score' });
const Keyword = z
  .object({ keyword: said('The word'), weight: z.number().meta({ description: 'The learned weight, -1 to 1' }) })
  .meta({ id: 'Keyword', description: 'A word of a title, and its weight' });
const KeywordFactor = z
  .object({ ...Factor, keywords: z.array(Keyword).meta({ description: 'The words that have a learned weight' }) })
  .meta({ id: 'KeywordFactor', description: 'The part of a score that comes from words of the title' });
const AuthorPart = z
  .object({
    id: Id('The id of the author'),
    name: said('The name of the author'),
    weight: z.number().meta({ description: 'The learned weight, -1 to 1' }),
    value: z.number().meta({ description: 'The value of decisions on other links of the author, -1 to 1' }),
    sampleSize: Count.meta({ description: 'How many links of the author were reviewed' }),
  })
  .meta({ id: 'AuthorPart', description: 'An author of a link, and the decisions on the links of that author' });
const AuthorFactor = z
  .object({ ...Factor, authors: z.array(AuthorPart).meta({ description: 'The authors, in alphabetical order; the value of the factor is their mean' }) })
  .meta({ id: 'AuthorFactor', description: 'The part of a score that comes from decisions on links of its authors' });
/** Wrapped: described itself, the object would repeat its keywords beside the reference. */
const factor = <S extends z.ZodObject>(schema: S, description: string) => schema.readonly().meta({ description });
const ScoreFactors = z
  .object({
    author: factor(AuthorFactor, 'Decisions on other links of its authors; the sample is the reviewed links'),
    keyword: factor(KeywordFactor, 'Weights learned for words of its title; the sample is these words'),
    recency: factor(ScoreFactor, 'How new it is; the sample is its first appearance'),
    popularity: factor(ScoreFactor, 'How many newsletters hold it, those with one Message-ID counted once; the sample is their number'),
  })
  .meta({ id: 'ScoreFactors', description: 'The parts of a score' });
const Base = z.number().meta({ description: 'The score before any factor' });
/** `base` and the contributions add up to the score, which is clamped to 0 to 10 and rounded to two digits. */
export const ScoreParts = z.object({ base: Base, factors: ScoreFactors }).meta({ id: 'ScoreParts', description: 'The parts of a score' });
export type ScoreParts = z.output<typeof ScoreParts>;

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

export const NewsletterTitle = saidOrNull('The subject of the mail, or null where it has none');
export const ReceivedDate = Timestamp.meta({ description: 'The date of the mail, else its time of reception' });
export const LinkCount = Count.meta({ description: 'How many links there are' });
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
export const ScoreExplanation = z
  .object({
    id: Id('The id of the link'),
    priorityScore: Score,
    base: Base,
    factors: ScoreFactors,
  })
  .meta({
    id: 'ScoreExplanation',
    description: 'A score and its parts: `base` and the contributions add up to it, within 0 to 10 and rounded to two digits',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        priorityScore: 7.35,
        base: 5,
        factors: {
          author: {
            value: 0.5,
            weight: 2,
            contribution: 1,
            sampleSize: 4,
            authors: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Ada Example', weight: 0.4, value: 0.5, sampleSize: 4 }],
          },
          keyword: { value: 0.4, weight: 1.5, contribution: 0.6, sampleSize: 1, keywords: [{ keyword: 'postgres', weight: 0.4 }] },
          recency: { value: 1, weight: 0.5, contribution: 0.5, sampleSize: 1 },
          popularity: { value: 0.5, weight: 0.5, contribution: 0.25, sampleSize: 2 },
        },
      },
    ],
  });

const Day = z
  .object({
    day: z.string().meta({ override: { format: 'date' }, description: 'The day in UTC' }),
    linksIn: Count.meta({ description: 'How many links were first seen on this day' }),
    decided: Count.meta({ description: 'How many links have their last decision, other than Awaiting, from this day' }),
    newsletters: Count.meta({ description: 'How many newsletters were received on this day' }),
  })
  .meta({ id: 'DigestDay', description: 'A day in numbers', examples: [{ day: '2026-03-15', linksIn: 31, decided: 12, newsletters: 2 }] });
export const Series = z.array(Day).meta({
  id: 'DigestSeries',
  description: 'The days, oldest first, today last',
  examples: [[{ day: '2026-03-15', linksIn: 31, decided: 12, newsletters: 2 }]],
});
export type Series = z.output<typeof Series>;

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

export const LinkOfList = LinkItem.pick({ id: true, url: true, title: true, status: true }).meta({
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
  mailDeleted: { status: 410, title: 'The mail of this newsletter was deleted after its retention time' },
  mailUnreadable: { status: 422, title: 'The mail cannot be shown' },
});
