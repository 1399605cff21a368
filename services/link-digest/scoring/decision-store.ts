// All SQL of decisions on links: the links that they change, and the weights of authors and words that they teach.
import { z } from 'zod';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';
import type { LinkStatus } from '../contract.ts';

/** The changes of weights that a decision made, without those that the limits left as they were. */
const Taught = z.object({
  authors: z.array(z.object({ id: z.string(), step: z.number() })),
  /** `isNew`: the word had no weight before. */
  keywords: z.array(z.object({ keyword: z.string(), step: z.number(), isNew: z.boolean() })),
});
export type Taught = z.output<typeof Taught>;

type LastDecision = { readonly statusBefore: LinkStatus | null; readonly decidedAt: Date | null };
type LinkRow = LastDecision & { readonly id: string; readonly title: string; readonly status: LinkStatus };
/** `taught` is undefined where the last decision cannot be taken back. */
export type LinkToDecide = LinkRow & { readonly taught: Taught | undefined };

export type Decision = {
  readonly id: string;
  readonly status: LinkStatus;
  readonly statusBefore: LinkStatus | null;
  readonly decidedAt: Date;
  /** Null for a decision that cannot be taken back. */
  readonly taught: Taught | null;
};

// Words that a decision brings have no row to lock yet, so that transactions which bring several would wait for each other in a circle.
const takeTurn = statement('decisions.takeTurn', `select pg_advisory_xact_lock(hashtextextended('signalbox.digest.decisions', 0))`);

// Locked in the order in which newsletters and scores lock them.
const lockLinks = statement<LinkRow & { readonly taught: unknown }, [ids: readonly string[]]>(
  'decisions.lockLinks',
  `
  select id, title, status, status_before as "statusBefore", decided_at as "decidedAt", taught from links
  where id = any($1::uuid[]) order by url_sha256 for no key update`,
);

type Authorship = { readonly linkId: string; readonly authorId: string };

const authorsOf = statement<Authorship, [linkIds: readonly string[]]>(
  'decisions.authorsOf',
  'select link_id as "linkId", author_id as "authorId" from link_authors where link_id = any($1::uuid[])',
);

type AuthorWeight = { readonly id: string; readonly weight: number };

// Newsletters that name authors lock them in this order as well, after their links.
const lockAuthors = statement<AuthorWeight, [ids: readonly string[]]>(
  'decisions.lockAuthors',
  'select id, weight from authors where id = any($1::uuid[]) order by identity for no key update',
);

type KeywordWeight = { readonly keyword: string; readonly weight: number };

const keywords = statement<KeywordWeight, [keywords: readonly string[]]>('decisions.keywords', 'select keyword, weight from keywords where keyword = any($1)');

const writeAuthors = rowsStatement<unknown, [authors: readonly AuthorWeight[]]>(
  'decisions.writeAuthors',
  [{ id: 'author_id uuid', weight: 'learned numeric' }],
  (given) => `update authors set weight = learned from ${given} as given where id = author_id`,
);

const writeKeywords = rowsStatement<unknown, [keywords: readonly KeywordWeight[]]>(
  'decisions.writeKeywords',
  [{ keyword: 'text', weight: 'numeric' }],
  (given) => `
  insert into keywords (keyword, weight) select keyword, weight from ${given} as given
  on conflict (keyword) do update set weight = excluded.weight`,
);

const forgetKeywords = statement<unknown, [keywords: readonly string[]]>('decisions.forgetKeywords', 'delete from keywords where keyword = any($1)');

const write = rowsStatement<unknown, [decisions: readonly Decision[]]>(
  'decisions.write',
  [{ id: 'link_id uuid', status: 'new_status text', statusBefore: 'before text', decidedAt: 'at timestamptz', taught: 'lesson jsonb' }],
  (given) => `
  update links set status = new_status, status_before = before, decided_at = at, taught = lesson, scored_at = null from ${given} as given where id = link_id`,
);

export type DecisionStore = ReturnType<typeof createDecisionStore>;
export type DecisionTransaction = ReturnType<typeof decisionsIn>;

const decisionsIn = (database: Database) => ({
  /** Locks the links that exist against other decisions, until the end of the transaction. */
  async lock(ids: readonly string[]): Promise<LinkToDecide[]> {
    await database.run(takeTurn);
    return (await database.all(lockLinks, ids)).map((link) => ({ ...link, taught: Taught.safeParse(link.taught).data }));
  },
  /** By the id of the link. */
  async authorsOf(linkIds: readonly string[]): Promise<ReadonlyMap<string, string[]>> {
    const byLink = Map.groupBy(await database.all(authorsOf, linkIds), ({ linkId }) => linkId);
    return new Map([...byLink].map(([linkId, rows]) => [linkId, rows.map(({ authorId }) => authorId)]));
  },
  /** @returns the weights of the authors that exist */
  lockAuthors: async (ids: readonly string[]) => new Map((await database.all(lockAuthors, ids)).map(({ id, weight }) => [id, weight])),
  /** @returns the weights of the words that have one */
  keywords: async (words: readonly string[]) => new Map((await database.all(keywords, words)).map(({ keyword, weight }) => [keyword, weight])),
  writeAuthors: (authors: readonly AuthorWeight[]) => database.run(writeAuthors, authors),
  writeKeywords: (weights: readonly KeywordWeight[]) => database.run(writeKeywords, weights),
  forgetKeywords: (words: readonly string[]) => database.run(forgetKeywords, words),
  /** Marks the scores as stale, too. */
  write: (decisions: readonly Decision[]) => database.run(write, decisions),
});

/** Decisions take turns: the keywords that one teaches are read and written by no other. */
export const createDecisionStore = (database: Database) => ({
  decide: <T>(work: (inTransaction: DecisionTransaction) => Promise<T>): Promise<T> =>
    database.transaction((inTransaction) => work(decisionsIn(inTransaction))),
});
