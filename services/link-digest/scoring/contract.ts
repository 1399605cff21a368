// Schemas of scores and of their parts, and of members that all schemas of the digest share.
import { z } from 'zod';
import { Count } from '../../platform/schema.ts';

export const Id = (description: string) => z.string().meta({ override: { format: 'uuid' }, description });
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
    weight: z.number().meta({ description: 'What was learned of the author, -1 to 1' }),
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
export const ScoreParts = z.object({ base: Base, factors: ScoreFactors }).meta({ id: 'ScoreParts', description: 'What a score is made of' });
export type ScoreParts = z.output<typeof ScoreParts>;

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
