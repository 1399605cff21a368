// All SQL of scores: what they depend on, and where they are kept.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
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

const reviews = statement<AuthorReviews, [authorIds: readonly string[]]>(
  'scores.reviews',
  `
  select author_id as id, count(*) filter (where link_status = 'Liked') as liked, count(*) filter (where link_status = 'Discarded') as discarded,
    count(*) filter (where link_status = 'DiscardedAfterReview') as "discardedAfterReview"
  from link_authors where author_id = any($1::uuid[]) and link_status <> 'Awaiting' group by author_id`,
);

const weights = statement<{ keyword: string; weight: number }, [keywords: readonly string[]]>(
  'scores.weights',
  'select keyword, weight from keywords where keyword = any($1)',
);

const authors = statement<{ id: string; name: string; weight: number }, [ids: readonly string[]]>(
  'scores.authors',
  'select id, name, weight from authors where id = any($1::uuid[]) order by name collate alphabetical, id',
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

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

export type ScoreQuestions = ReturnType<typeof scoreQuestions>;
export type ScoreStore = ReturnType<typeof createScoreStore>;

/** On a pool or inside a transaction alike. */
export const scoreQuestions = (database: Database) => ({
  /** Counts of decided links; an author without any is left out. */
  reviews: (authorIds: readonly string[]) => database.all(reviews, authorIds),
  /** Weights of the keywords that have one. */
  weights: (keywords: readonly string[]) => database.all(weights, keywords),
  /** In alphabetical order. */
  authors: (ids: readonly string[]) => database.all(authors, ids),
  /** Locks some waiting links whose score is not newer than `before`, against decisions too; none when another transaction computes them. */
  lockStale: async (before: Date, limit: number) => idsOf(await database.all(lockStale, before, limit)),
  lock: async (ids: readonly string[]) => idsOf(await database.all(lock, ids)),
  /** Call after `lock`: then it sees what those transactions committed. */
  read: (ids: readonly string[]) => database.all(read, ids),
  write: (scores: readonly NewScore[], now: Date) => database.run(write, scores, now),
});

export const createScoreStore = (database: Database) => ({
  /** Whether a waiting link has a score that is not newer. */
  hasStale: async (before: Date) => (await database.first(hasStale, before))?.hasStale === true,
  transaction: <T>(work: (inTransaction: ScoreQuestions) => Promise<T>): Promise<T> =>
    database.transaction((inTransaction) => work(scoreQuestions(inTransaction))),
});
