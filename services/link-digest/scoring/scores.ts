// Stored scores of links: computed in batches, valid for an hour, and computed again at the next read.
import { Common } from '../../platform/problem.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import type { ScoringConfig } from '../config.ts';
import { keywordsOf } from './keywords.ts';
import { authorValueOf, type Explained, explainScore, type Reviews, round6, type Weights } from './score.ts';
import type { AuthorReviews, ScoredLink, ScoreQuestions, ScoreStore } from './store.ts';

/** Scores per statement; measured at 100 000 links. */
const batchSize = 10_000;
/** How long a request waits, without a database connection, for another one that computes scores. */
const turnMs = 20_000;
const nothing: Reviews = { liked: 0, discarded: 0, discardedAfterReview: 0 };

export type LearnedKeyword = { readonly keyword: string; readonly weight: number };
/** A score with its factors and their samples. */
type Computed = Explained & { readonly reviews: readonly AuthorReviews[]; readonly keywords: readonly LearnedKeyword[]; readonly newsletters: number };
/** `value` is the author's part in the factor, `weight` what was learned. */
type ExplainedAuthor = { readonly id: string; readonly name: string; readonly weight: number; readonly value: number; readonly sampleSize: number };
export type Explanation = Computed & { readonly authors: readonly ExplainedAuthor[] };

const reviewedOf = ({ liked, discarded, discardedAfterReview }: Reviews): number => liked + discarded + discardedAfterReview;

type ToScore = Omit<ScoredLink, 'id'>;

/** In the order of the links. */
export async function explainAll(store: ScoreQuestions, links: readonly ToScore[], { now, weights }: { now: Date; weights: Weights }): Promise<Computed[]> {
  const words = links.map(({ title }) => keywordsOf(title));
  const allWords = [...new Set(words.flat())];
  const allAuthors = [...new Set(links.flatMap(({ authorIds }) => authorIds))];
  const reviews = new Map(allAuthors.length === 0 ? [] : (await store.reviews(allAuthors)).map(({ id, ...counts }) => [id, counts]));
  const learned = new Map(allWords.length === 0 ? [] : (await store.weights(allWords)).map(({ keyword, weight }) => [keyword, weight]));
  return links.map(({ authorIds, firstSeen, newsletters }, index) => {
    const authors = authorIds.map((id) => ({ id, ...(reviews.get(id) ?? nothing) }));
    const keywords = (words[index] ?? []).flatMap((keyword) => {
      const weight = learned.get(keyword);
      return weight === undefined ? [] : [{ keyword, weight }];
    });
    const facts = { authors, keywordWeights: keywords.map(({ weight }) => weight), ageMs: now.getTime() - firstSeen.getTime(), newsletters };
    return { ...explainScore(facts, weights), reviews: authors, keywords, newsletters };
  });
}

function authorsOf({ reviews }: Computed, named: readonly Pick<ExplainedAuthor, 'id' | 'name' | 'weight'>[]): ExplainedAuthor[] {
  const byId = new Map(reviews.map((review) => [review.id, review]));
  return named.flatMap((author) => {
    const review = byId.get(author.id);
    return review ? [{ ...author, value: round6(authorValueOf(review)), sampleSize: reviewedOf(review) }] : [];
  });
}

export type Scores = ReturnType<typeof createScores>;

export function createScores(store: ScoreStore, { weights, clock }: { weights: ScoringConfig; clock: () => Date }) {
  const turn = createSemaphore(1);
  const staleBefore = () => new Date(clock().getTime() - weights.cacheMinutes * 60_000);

  async function computeAt(now: Date, inTransaction: ScoreQuestions, ids: readonly string[]): Promise<ReadonlyMap<string, Computed>> {
    if (ids.length === 0) return new Map();
    const links = await inTransaction.read(ids);
    const explained = await explainAll(inTransaction, links, { now, weights });
    return new Map(links.flatMap(({ id }, index) => (explained[index] ? [[id, explained[index]] as const] : [])));
  }

  /** @param ids locked */
  async function computeAndWrite(inTransaction: ScoreQuestions, ids: readonly string[]): Promise<ReadonlyMap<string, Computed>> {
    const now = clock();
    const computed = await computeAt(now, inTransaction, ids);
    const scores = [...computed].map(([id, { score }]) => ({ id, score }));
    if (scores.length > 0) await inTransaction.write(scores, now);
    return computed;
  }

  async function withAuthors(inTransaction: ScoreQuestions, computed: ReadonlyMap<string, Computed>): Promise<ReadonlyMap<string, Explanation>> {
    const authorIds = new Set([...computed.values()].flatMap(({ reviews }) => reviews.map(({ id }) => id)));
    const named = authorIds.size === 0 ? [] : await inTransaction.authors([...authorIds]);
    return new Map([...computed].map(([id, explained]) => [id, { ...explained, authors: authorsOf(explained, named) }]));
  }

  return {
    /** Whether a score must be computed again. */
    isStale: (scoredAt: Date | null) => scoredAt === null || scoredAt <= staleBefore(),

    /** Computes and stores the scores of these links. */
    compute: (ids: readonly string[]) =>
      store.transaction(async (inTransaction) => {
        await computeAndWrite(inTransaction, await inTransaction.lock(ids));
      }),

    /** Computes and stores the scores of these links, so that lists show what is explained. @returns by id; without those that are no links */
    explain: (ids: readonly string[]): Promise<ReadonlyMap<string, Explanation>> =>
      store.transaction(async (inTransaction) => withAuthors(inTransaction, await computeAndWrite(inTransaction, await inTransaction.lock(ids)))),

    /** Computes the scores of these links as above and stores none, so that no list changes its order. */
    explainUnkept: (ids: readonly string[]): Promise<ReadonlyMap<string, Explanation>> =>
      store.transaction(async (inTransaction) => withAuthors(inTransaction, await computeAt(clock(), inTransaction, ids))),

    /** Computes and stores all stale scores of waiting links. */
    async computeStale(): Promise<void> {
      const before = staleBefore();
      if (!(await store.hasStale(before))) return;
      if (!(await turn.acquire(1, turnMs))) throw Common.unavailable({ headers: { 'Retry-After': '5' } });
      try {
        while (await store.hasStale(before))
          await store.transaction(async (inTransaction) => {
            await computeAndWrite(inTransaction, await inTransaction.lockStale(before, batchSize));
          });
      } finally {
        turn.release(1);
      }
    },
  };
}
