// The formula of a link's score. Pure.
import { dayMs } from '../../platform/time.ts';
import type { ScoringConfig } from '../config.ts';

/** An author's reviewed links by status. */
export type Reviews = { readonly liked: number; readonly discarded: number; readonly discardedAfterReview: number };

/** The facts that a score depends on. */
export type ScoreFacts = {
  /** One entry for each author of the link. */
  readonly authors: readonly Reviews[];
  /** The learned weights of the title's keywords. */
  readonly keywordWeights: readonly number[];
  readonly ageMs: number;
  readonly newsletters: number;
};

export type Factor = {
  readonly value: number;
  readonly weight: number;
  /** The amount that the factor adds to the base. */
  readonly contribution: number;
};
export type Explained = {
  readonly base: number;
  readonly factors: { readonly author: Factor; readonly keyword: Factor; readonly recency: Factor; readonly popularity: Factor };
  readonly score: number;
};

export type Weights = Pick<ScoringConfig, 'authorWeight' | 'keywordWeight' | 'recencyWeight' | 'popularityWeight' | 'recencyDays' | 'popularNewsletters'>;

const base = 5;
const span = 5;

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length);

/** Rounds to so many digits, half away from zero; the error of binary fractions must not round down. */
function round(value: number, digits: number): number {
  const scaled = Number((Math.abs(value) * 10 ** digits).toFixed(6));
  return (Math.sign(value) * Math.round(scaled)) / 10 ** digits || 0;
}
export const round2 = (value: number) => round(value, 2);
export const round6 = (value: number) => round(value, 6);

/** -1 to 1; 0 before anything of the author was reviewed. */
export function authorValueOf({ liked, discarded, discardedAfterReview }: Reviews): number {
  const reviewed = liked + discarded + discardedAfterReview;
  return reviewed === 0 ? 0 : (liked - discarded - 0.5 * discardedAfterReview) / reviewed;
}

/** `base` and the contributions add up to the score, which is clamped to 0 to 10 and rounded. */
export function explainScore({ authors, keywordWeights, ageMs, newsletters }: ScoreFacts, weights: Weights): Explained {
  const factor = (value: number, weight: number): Factor => ({
    value: round6(value),
    weight,
    contribution: round6(span * weight * value),
  });
  const factors = {
    author: factor(mean(authors.map(authorValueOf)), weights.authorWeight),
    keyword: factor(mean(keywordWeights), weights.keywordWeight),
    recency: factor(clamp(1 - ageMs / dayMs / weights.recencyDays, 0, 1), weights.recencyWeight),
    popularity: factor(Math.min(newsletters / weights.popularNewsletters, 1), weights.popularityWeight),
  };
  const sum = Object.values(factors).reduce((total, { contribution }) => total + contribution, base);
  return { base, factors, score: round2(clamp(sum, 0, 10)) };
}
