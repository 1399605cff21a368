// Everything the link digest says on the wire, and what its parts hand to each other.

import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { Timestamp } from '../platform/schema.ts';

export const linkStatuses = ['Awaiting', 'Liked', 'Discarded', 'DiscardedAfterReview'] as const;
const LinkStatus = z.enum(linkStatuses, { error: `must be one of ${linkStatuses.join(', ')}` });
export type LinkStatus = z.output<typeof LinkStatus>;

/** A link as lists show it. */
export const LinkItem = z.object({
  id: z.string(),
  url: z.string(),
  title: z.string(),
  status: LinkStatus,
  priorityScore: z.number(),
  firstSeen: Timestamp,
  lastSeen: Timestamp,
  authorNames: z.array(z.string()),
  newsletterAppearanceCount: z.int(),
});
export type LinkItem = z.output<typeof LinkItem>;

/** `title` is null where the mail has no subject. */
const NewsletterSummary = z.object({ id: z.string(), title: z.string().nullable(), receivedDate: Timestamp });

export const LinkDetail = LinkItem.omit({ authorNames: true, newsletterAppearanceCount: true }).extend({
  authors: z.array(z.object({ id: z.string(), name: z.string() })),
  /** Newest first. */
  newsletters: z.array(NewsletterSummary),
});
export type LinkDetail = z.output<typeof LinkDetail>;

export const StatusChange = z.object({ status: LinkStatus });

/** The same statuses, each with how many there are of it. */
export const StatusCounts = z.object({ Awaiting: z.int(), Liked: z.int(), Discarded: z.int(), DiscardedAfterReview: z.int() });
export type StatusCounts = z.output<typeof StatusCounts>;

const Factor = { value: z.number(), weight: z.number(), contribution: z.number(), sampleSize: z.int() };
/** `base` and the contributions add up to the score, which is clamped to 0 to 10 and rounded to two digits. */
export const ScoreExplanation = z.object({
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
});

export const Stats = z.object({
  statusCounts: StatusCounts,
  totalLinks: z.int(),
  totalNewsletters: z.int(),
  totalAuthors: z.int(),
  recentNewsletters: z.array(NewsletterSummary.extend({ linkCount: z.int() })),
});
export type Stats = z.output<typeof Stats>;

const LinkOfList = z.object({ id: z.string(), url: z.string(), title: z.string(), status: LinkStatus });
export type LinkOfList = z.output<typeof LinkOfList>;

/** `reason` is there of mails that were refused alone; of these `title` and `destinationEmail` are null, since nothing of them is read. */
export const NewsletterItem = z.object({
  id: z.string(),
  title: z.string().nullable(),
  receivedDate: Timestamp,
  destinationEmail: z.string().nullable(),
  linkCount: z.int(),
  reason: z.string().optional(),
});
export type NewsletterItem = z.output<typeof NewsletterItem>;
export const NewsletterDetail = NewsletterItem.omit({ reason: true }).extend({ links: z.array(LinkOfList) });

export const AuthorItem = z.object({
  id: z.string(),
  name: z.string(),
  handle: z.string().nullable(),
  customDomain: z.string().nullable(),
  linkCount: z.int(),
});
export type AuthorItem = z.output<typeof AuthorItem>;
export const AuthorDetail = AuthorItem.extend({ interactionCounts: StatusCounts, links: z.array(LinkOfList) });

export const Credentials = z.object({ username: z.string(), password: z.string() });
export const Login = z.object({
  token: z.string(),
  expiresAt: Timestamp,
  user: z.object({ id: z.string(), username: z.string(), lastLogin: Timestamp }),
});

export const Problems = problems({
  invalidQuery: { status: 422, title: 'The query is not valid' },
  linkMissing: { status: 404, title: 'No such link' },
  newsletterMissing: { status: 404, title: 'No such newsletter' },
  authorMissing: { status: 404, title: 'No such author' },
});

/** A mail as its parser leaves it: what links and authors are extracted from. */
export type ParsedMail = {
  /** Decoded; null where there is none, or nothing in it. */
  readonly subject: string | null;
  /** Of its Date header. */
  readonly date: Date | null;
  /** The address of From. */
  readonly from: string | null;
  /** The first address of To. */
  readonly to: string | null;
  readonly html: string | null;
  readonly text: string | null;
  /** The targets of List-Unsubscribe. */
  readonly unsubscribe: readonly string[];
};

export type FoundAuthor = {
  /** The byline, else the handle. */
  readonly name: string;
  /** On its platform, without `@`. */
  readonly handle: string | null;
  /** The author's own host; null with a handle. */
  readonly customDomain: string | null;
};

export type FoundLink = {
  /** One identity for each address: `identityOf` of the extraction. */
  readonly url: string;
  /** As it stands in the mail. */
  readonly foundUrl: string;
  readonly title: string;
  readonly authors: readonly FoundAuthor[];
};

export type RawMail = { readonly sha256: Buffer; readonly raw: Buffer; readonly receivedAt: Date };

/** What extraction makes of a mail. `receivedAt` of the raw mail stands in where it has no date. */
export type Newsletter = {
  readonly title: string | null;
  readonly receivedDate: Date;
  readonly destinationEmail: string | null;
  readonly links: readonly FoundLink[];
};

/** Newsletters on their way in, by the SHA-256 of their bytes. Each call is one transaction, but that mails stored at once share one. */
export type NewsletterStore = {
  /** What became of these bytes: `rejection` is why they were refused, null where they were stored. Undefined when they are new. */
  outcomeOf(sha256: Buffer): Promise<{ readonly rejection: string | null } | undefined>;
  /** Nothing is changed by a duplicate. New links are Awaiting and have their score, which counts this newsletter. */
  store(mail: RawMail, newsletter: Newsletter): Promise<'stored' | 'duplicate'>;
  /** Kept, and shown by `status=rejected` only. */
  reject(mail: RawMail, reason: string): Promise<'rejected' | 'duplicate'>;
  /** All, oldest first, those refused among them. */
  all(): AsyncIterable<RawMail>;
  /** How many bytes `all` has. */
  totalBytes(): Promise<number>;
  /** What an improved extraction makes of stored bytes: links keep their status, weights and first appearance; links that are found no more leave the newsletter,
   *  and are deleted when no newsletter holds them and they are Awaiting. */
  replace(sha256: Buffer, newsletter: Newsletter): Promise<void>;
};
