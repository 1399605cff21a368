// The formula of the score: its worked values and its bounds.
import { expect } from 'chai';
import { readConfig } from '../../../../services/link-digest/config.ts';
import { explainScore, round2, type ScoreFacts } from '../../../../services/link-digest/scoring/score.ts';
import { environmentOf } from '../store.ts';

const weights = readConfig(environmentOf('postgres://localhost/x'));
const fresh: ScoreFacts = { authors: [], keywordWeights: [], ageMs: 0, newsletters: 1 };
const none = { liked: 0, discarded: 0, discardedAfterReview: 0 };
const scoreOf = (facts: Partial<ScoreFacts>) => explainScore({ ...fresh, ...facts }, weights);
const dayMs = 86_400_000;

describe('the score of a link', () => {
  it('is 6.33 for a fresh link of one newsletter', () => expect(scoreOf({}).score).to.equal(6.33));
  it('is 6.67 with two newsletters', () => expect(scoreOf({ newsletters: 2 }).score).to.equal(6.67));
  it('is 7.00 with three newsletters, and with more', () => {
    expect(scoreOf({ newsletters: 3 }).score).to.equal(7);
    expect(scoreOf({ newsletters: 30 }).score).to.equal(7);
  });

  it('gains 1.75 by one author with one liked link: +1.75', () => {
    expect(scoreOf({ authors: [{ ...none, liked: 1 }] }).factors.author.contribution).to.equal(1.75);
    expect(scoreOf({ authors: [{ ...none, liked: 1 }] }).score).to.equal(8.08);
  });
  it('loses 1.75 by one author with one discarded link: −1.75', () => {
    expect(scoreOf({ authors: [{ ...none, discarded: 1 }] }).factors.author.contribution).to.equal(-1.75);
    expect(scoreOf({ authors: [{ ...none, discarded: 1 }] }).score).to.equal(4.58);
  });
  it('loses 0.88 by one author with one link discarded after review: −0.88 (−0.875)', () => {
    const { contribution } = scoreOf({ authors: [{ ...none, discardedAfterReview: 1 }] }).factors.author;
    expect(contribution).to.equal(-0.875);
    expect(round2(contribution)).to.equal(-0.88);
    expect(scoreOf({ authors: [{ ...none, discardedAfterReview: 1 }], ageMs: 15 * dayMs, newsletters: 3 }).score).to.equal(5.63);
  });
  it('gains 0.125 by one keyword at 0.10: +0.125', () => {
    expect(scoreOf({ keywordWeights: [0.1] }).factors.keyword.contribution).to.equal(0.125);
    expect(scoreOf({ keywordWeights: [0.1] }).score).to.equal(6.46);
  });

  it('takes the mean over authors, those without a reviewed link among them, and over the words that have a weight', () => {
    expect(scoreOf({ authors: [{ ...none, liked: 1 }, none] }).factors.author.value).to.equal(0.5);
    expect(scoreOf({ authors: [{ liked: 3, discarded: 1, discardedAfterReview: 2 }] }).factors.author.value).to.be.closeTo(1 / 6, 1e-6);
    expect(scoreOf({ keywordWeights: [1, -0.5] }).factors.keyword.value).to.equal(0.25);
  });

  it('loses what is new of it in 30 days, and no more afterwards', () => {
    expect(scoreOf({ ageMs: 15 * dayMs }).score).to.equal(5.83);
    expect(scoreOf({ ageMs: 30 * dayMs }).score).to.equal(5.33);
    expect(scoreOf({ ageMs: 3000 * dayMs }).score).to.equal(5.33);
    expect(scoreOf({ ageMs: -dayMs }).factors.recency.value).to.equal(1);
  });

  it('stays between 0 and 10, whatever the weights are', () => {
    const heavy = { ...weights, authorWeight: 1, keywordWeight: 1, recencyWeight: 1, popularityWeight: 1 };
    expect(explainScore({ ...fresh, authors: [{ ...none, liked: 1 }], keywordWeights: [1] }, heavy).score).to.equal(10);
    expect(explainScore({ ...fresh, authors: [{ ...none, discarded: 1 }], keywordWeights: [-1], ageMs: 90 * dayMs }, heavy).score).to.equal(0);
  });

  it('takes its weights and windows from settings', () => {
    const other = { ...weights, popularityWeight: 0, recencyWeight: 1, recencyDays: 10, popularNewsletters: 1 };
    expect(explainScore({ ...fresh, ageMs: 5 * dayMs }, other).score).to.equal(7.5);
  });

  it('is the sum of its base and its contributions', () => {
    const { base, factors, score } = scoreOf({ authors: [{ liked: 2, discarded: 1, discardedAfterReview: 4 }], keywordWeights: [0.1, 0.3, -0.05], ageMs: 7e8 });
    expect(round2(Object.values(factors).reduce((sum, { contribution }) => sum + contribution, base))).to.equal(score);
  });

  it('is rounded half away from zero', () => {
    for (const [value, rounded] of [
      [1.005, 1.01],
      [-0.875, -0.88],
      [0.125, 0.13],
      [2.675, 2.68],
      [-0.001, 0],
    ] as const)
      expect(round2(value)).to.equal(rounded);
  });
});
