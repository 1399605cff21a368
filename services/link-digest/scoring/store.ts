// All SQL of scores and of decisions: what scores depend on, where they are kept, and what a decision teaches.
import { z } from 'zod';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
import type { LinkStatus } from '../contract.ts';
import type { Reviews } from './score.ts';

export type AuthorReviews = Reviews & { readonly id: string };
export type ScoredLink = {
  readonly id: string;
  readonly title: string;
  readonly firstSeen: Date;
  readonly newsletters: number;
  readonly authorIds: readonly string[];
};
export type NewScore = { readonly id: string; readonly score: number };

const counts = `
  count(*) filter (where status = 'Liked') as liked, count(*) filter (where status = 'Discarded') as discarded,
  count(*) filter (where status = 'DiscardedAfterReview') as "discardedAfterReview"`;

const reviews = statement<AuthorReviews, [authorIds: readonly string[]]>(
  'scores.reviews',
  `
  select author_id as id, ${counts}
  from link_authors join links on links.id = link_id and status <> 'Awaiting'
  where author_id = any($1::uuid[])
  group by author_id`,
);

const weights = statement<{ keyword: string; weight: number }, [keywords: readonly string[]]>(
  'scores.weights',
  'select keyword, weight from keywords where keyword = any($1)',
);

/** The expression of the index. */
const scoredAt = `coalesce(scored_at, '-infinity')`;

// Reads one entry at the end of the index.
const hasStale = statement<{ hasStale: boolean }, [before: Date]>(
  'scores.hasStale',
  `select coalesce(min(${scoredAt}) <= $1, false) as "hasStale" from links where status = 'Awaiting'`,
);

// Locked in the order in which newsletters lock them. A transaction that waited for the lock checks again, and finds the score computed.
const lockStale = statement<{ id: string }, [before: Date, limit: number]>(
  'scores.lockStale',
  `
  select id from links
  where id in (select id from links where status = 'Awaiting' order by ${scoredAt} limit $2) and status = 'Awaiting' and ${scoredAt} <= $1
  order by url_sha256 for no key update`,
);

const lock = statement<{ id: string }, [ids: readonly string[]]>(
  'scores.lock',
  'select id from links where id = any($1::uuid[]) order by url_sha256 for no key update',
);

const read = statement<ScoredLink, [ids: readonly string[]]>(
  'scores.read',
  `
  select id, title, first_seen as "firstSeen", message_count as newsletters, array(select author_id from link_authors where link_id = links.id) as "authorIds"
  from links where id = any($1::uuid[])`,
);

const write = rowsStatement<unknown, [scores: readonly NewScore[], now: Date]>(
  'scores.write',
  [{ id: 'link_id uuid', score: 'numeric' }, 'timestamptz'],
  (given, now) => `
  update links set priority_score = score, scored_at = ${now} from ${given} as computed where id = link_id`,
);

/** The weights that a decision changed, without those that the limits left as they were. */
const Taught = z.object({
  authors: z.array(z.object({ id: z.string(), step: z.number() })),
  /** `isNew`: the word had no weight before. */
  keywords: z.array(z.object({ keyword: z.string(), step: z.number(), isNew: z.boolean() })),
});
export type Taught = z.output<typeof Taught>;

type Decided = { readonly title: string; readonly status: LinkStatus; readonly statusBefore: LinkStatus | null; readonly decidedAt: Date | null };

const lockLink = statement<Decided & { readonly taught: unknown }, [id: string]>(
  'decisions.lock',
  'select title, status, status_before as "statusBefore", decided_at as "decidedAt", taught from links where id = $1 for no key update',
);

const setStatus = statement<unknown, [id: string, status: LinkStatus, before: LinkStatus | null, decidedAt: Date, taught: string | null]>(
  'decisions.setStatus',
  'update links set status = $2, status_before = $3, decided_at = $4, taught = $5::jsonb, scored_at = null where id = $1',
);

const teachAuthors = statement<Taught['authors'][number], [linkId: string, step: number]>(
  'decisions.teachAuthors',
  `
  with taught as (
    select id, weight as before from authors where id in (select author_id from link_authors where link_id = $1) order by identity for no key update)
  update authors set weight = greatest(-1, least(1, weight + $2::numeric)) from taught where authors.id = taught.id
  returning authors.id, (weight - before)::float8 as step`,
);

const lockKeywords = statement<{ keyword: string; weight: number }, [keywords: readonly string[]]>(
  'decisions.lockKeywords',
  'select keyword, weight from keywords where keyword = any($1) order by keyword for no key update',
);

const teachKeywords = statement<{ keyword: string; weight: number }, [keywords: readonly string[], step: number]>(
  'decisions.teachKeywords',
  `
  insert into keywords (keyword, weight) select keyword, $2::numeric from unnest($1::text[]) as given (keyword) order by keyword
  on conflict (keyword) do update set weight = greatest(-1, least(1, keywords.weight + excluded.weight))
  returning keyword, weight`,
);

const unteachAuthors = rowsStatement<unknown, [steps: Taught['authors']]>(
  'decisions.unteachAuthors',
  [{ id: 'uuid', step: 'numeric' }],
  (given) => `
  with taught as (
    select authors.id, step from authors join ${given} as given using (id) order by identity for no key update of authors)
  update authors set weight = greatest(-1, least(1, weight - step)) from taught where authors.id = taught.id`,
);

// A word that this decision alone has taught has no weight afterwards, as before.
const unteachKeywords = rowsStatement<unknown, [steps: Taught['keywords']]>(
  'decisions.unteachKeywords',
  [{ keyword: 'text', step: 'numeric', isNew: 'boolean' }],
  (given) => `
  with taught as (
    select keyword, step, is_new, weight from keywords join ${given} as given using (keyword) order by keyword for no key update of keywords),
  forgotten as (delete from keywords using taught where keywords.keyword = taught.keyword and is_new and taught.weight = step)
  update keywords set weight = greatest(-1, least(1, keywords.weight - step)) from taught
  where keywords.keyword = taught.keyword and not (is_new and taught.weight = step)`,
);

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

export type ScoreQuestions = ReturnType<typeof scoreQuestions>;
export type ScoreStore = ReturnType<typeof createScoreStore>;

/** On a pool or inside a transaction alike. */
export const scoreQuestions = (database: Database) => ({
  /** Counts of decided links; an author without any is left out. */
  reviews: (authorIds: readonly string[]) => database.all(reviews, authorIds),
  /** Weights of the keywords that have one. */
  weights: (keywords: readonly string[]) => database.all(weights, keywords),
  /** Locks some waiting links whose score is not newer than `before`, against decisions too; none when another transaction computes them. */
  lockStale: async (before: Date, limit: number) => idsOf(await database.all(lockStale, before, limit)),
  lock: async (ids: readonly string[]) => idsOf(await database.all(lock, ids)),
  /** Call after `lock`: then it sees what those transactions committed. */
  read: (ids: readonly string[]) => database.all(read, ids),
  write: (scores: readonly NewScore[], now: Date) => database.run(write, scores, now),
});

const decisionOn = (database: Database) => ({
  /** Locks the link against other decisions until the end of the transaction. */
  async lock(id: string): Promise<(Decided & { readonly taught: Taught | undefined }) | undefined> {
    const link = await database.first(lockLink, id);
    return link && { ...link, taught: Taught.safeParse(link.taught).data };
  },
  /** Marks the score as stale, too. @param taught undefined for a decision that cannot be taken back */
  setStatus: (id: string, status: LinkStatus, last: { readonly before: LinkStatus | null; readonly at: Date; readonly taught: Taught | undefined }) =>
    database.run(setStatus, id, status, last.before, last.at, last.taught ? JSON.stringify(last.taught) : null),
  teachAuthors: (linkId: string, step: number) => database.all(teachAuthors, linkId, step),
  async teachKeywords(keywords: readonly string[], step: number): Promise<Taught['keywords']> {
    const before = new Map((await database.all(lockKeywords, keywords)).map(({ keyword, weight }) => [keyword, weight]));
    const after = await database.all(teachKeywords, keywords, step);
    // In hundredths, as weights are kept: sums of fractions are not exact.
    return after.map(({ keyword, weight }) => ({
      keyword,
      step: Math.round((weight - (before.get(keyword) ?? 0)) * 100) / 100,
      isNew: !before.has(keyword),
    }));
  },
  async unteach({ authors, keywords }: Taught): Promise<void> {
    await database.run(unteachAuthors, authors);
    await database.run(unteachKeywords, keywords);
  },
});

export const createScoreStore = (database: Database) => ({
  /** Whether a waiting link has a score that is not newer. */
  hasStale: async (before: Date) => (await database.first(hasStale, before))?.hasStale === true,
  transaction: <T>(work: (inTransaction: ScoreQuestions) => Promise<T>): Promise<T> =>
    database.transaction((inTransaction) => work(scoreQuestions(inTransaction))),
  decide: <T>(work: (decision: ReturnType<typeof decisionOn>) => Promise<T>): Promise<T> =>
    database.transaction((inTransaction) => work(decisionOn(inTransaction))),
});
