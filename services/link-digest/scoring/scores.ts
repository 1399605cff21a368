// Stored scores of links: computed in batches, valid for an hour, and computed again at the next read.
import { Common } from '../../platform/problem.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import type { ScoringConfig } from '../config.ts';
import { keywordsOf } from './keywords.ts';
import { type Explained, explainScore, type Reviews, type Weights } from './score.ts';
import type { ScoredLink, ScoreQuestions, ScoreStore } from './store.ts';

/** Scores per statement; measured at 100 000 links. */
const batchSize = 10_000;
/** How long a request waits, without a database connection, for another one that computes scores. */
const turnMs = 20_000;
const nothing: Reviews = { liked: 0, discarded: 0, discardedAfterReview: 0 };

export type LearnedKeyword = { readonly keyword: string; readonly weight: number };
/** A score with its factors and their samples. */
export type Explanation = Explained & { readonly reviews: readonly Reviews[]; readonly keywords: readonly LearnedKeyword[]; readonly newsletters: number };

type ToScore = Omit<ScoredLink, 'id'>;

/** In the order of the links. */
export async function explainAll(store: ScoreQuestions, links: readonly ToScore[], { now, weights }: { now: Date; weights: Weights }): Promise<Explanation[]> {
  const words = links.map(({ title }) => keywordsOf(title));
  const allWords = [...new Set(words.flat())];
  const allAuthors = [...new Set(links.flatMap(({ authorIds }) => authorIds))];
  const reviews = new Map(allAuthors.length === 0 ? [] : (await store.reviews(allAuthors)).map(({ id, ...counts }) => [id, counts]));
  const learned = new Map(allWords.length === 0 ? [] : (await store.weights(allWords)).map(({ keyword, weight }) => [keyword, weight]));
  return links.map(({ authorIds, firstSeen, newsletters }, index) => {
    const authors = authorIds.map((id) => reviews.get(id) ?? nothing);
    const keywords = (words[index] ?? []).flatMap((keyword) => {
      const weight = learned.get(keyword);
      return weight === undefined ? [] : [{ keyword, weight }];
    });
    const facts = { authors, keywordWeights: keywords.map(({ weight }) => weight), ageMs: now.getTime() - firstSeen.getTime(), newsletters };
    return { ...explainScore(facts, weights), reviews: authors, keywords, newsletters };
  });
}

export type Scores = ReturnType<typeof createScores>;

export function createScores(store: ScoreStore, { weights, clock }: { weights: ScoringConfig; clock: () => Date }) {
  const turn = createSemaphore(1);
  const staleBefore = () => new Date(clock().getTime() - weights.cacheMinutes * 60_000);

  /** @param ids locked */
  async function computeAndWrite(inTransaction: ScoreQuestions, ids: readonly string[]): Promise<Explanation[]> {
    if (ids.length === 0) return [];
    const now = clock();
    const links = await inTransaction.read(ids);
    const explained = await explainAll(inTransaction, links, { now, weights });
    await inTransaction.write(
      links.map(({ id }, index) => ({ id, score: explained[index]?.score ?? 0 })),
      now,
    );
    return explained;
  }

  return {
    /** Whether a score must be computed again. */
    isStale: (scoredAt: Date | null) => scoredAt === null || scoredAt <= staleBefore(),

    /** Computes and stores the scores of these links. */
    compute: (ids: readonly string[]) =>
      store.transaction(async (inTransaction) => {
        await computeAndWrite(inTransaction, await inTransaction.lock(ids));
      }),

    /** Computes and stores a link's score, so that lists show what is explained; undefined when no link has the id. */
    explain: (id: string) => store.transaction(async (inTransaction) => (await computeAndWrite(inTransaction, await inTransaction.lock([id])))[0]),

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
