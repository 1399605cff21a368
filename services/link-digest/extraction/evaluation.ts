// Recall and precision of the extraction against hand-made labels. Pure.
import { z } from 'zod';
import type { FoundAuthor, FoundLink } from './extraction.ts';

const Author = z.strictObject({ name: z.string(), handle: z.string().nullable().default(null), customDomain: z.string().nullable().default(null) });

/** The links that a reader of the mail wants, with identity, title and authors. */
export const Labels = z.array(z.strictObject({ url: z.string(), title: z.string(), authors: z.array(Author).default([]) }));
export type Labels = z.output<typeof Labels>;

const kinds = ['links', 'titles', 'authors'] as const;
type Kind = (typeof kinds)[number];

export type Evaluation = {
  /** How many labels and findings there are, and how many findings are right. */
  readonly counts: Readonly<Record<Kind, { readonly labelled: number; readonly found: number; readonly right: number }>>;
  /** One line for each fault. */
  readonly faults: readonly string[];
};

/** A title counts with its link; an author counts with the link, the name, and the handle or the domain. */
export function evaluate(labels: Labels, found: readonly FoundLink[]): Evaluation {
  const sets = kinds.map((kind) => {
    const [wanted, got] = [new Set(labels.flatMap(linesOf[kind])), new Set(found.flatMap(linesOf[kind]))];
    return { kind, wanted, got, right: [...wanted].filter((line) => got.has(line)).length };
  });
  const count = (at: number) => ({ labelled: sets[at]?.wanted.size ?? 0, found: sets[at]?.got.size ?? 0, right: sets[at]?.right ?? 0 });
  return {
    counts: { links: count(0), titles: count(1), authors: count(2) },
    faults: sets.flatMap(({ kind, wanted, got }) => [
      ...[...wanted].filter((line) => !got.has(line)).map((line) => `missing in ${kind}: ${line}`),
      ...[...got].filter((line) => !wanted.has(line)).map((line) => `too much in ${kind}: ${line}`),
    ]),
  };
}

type Link = { readonly url: string; readonly title: string; readonly authors: readonly FoundAuthor[] };
const linesOf: Readonly<Record<Kind, (link: Link) => readonly string[]>> = {
  links: ({ url }) => [url],
  titles: ({ url, title }) => [`${url} ${title}`],
  authors: ({ url, authors }) => authors.map(({ name, handle, customDomain }) => `${url} ${name} (${handle === null ? (customDomain ?? '') : `@${handle}`})`),
};

export function total(evaluations: readonly Evaluation[]): Evaluation['counts'] {
  const sum = (kind: Kind) => ({
    labelled: evaluations.reduce((sum, { counts }) => sum + counts[kind].labelled, 0),
    found: evaluations.reduce((sum, { counts }) => sum + counts[kind].found, 0),
    right: evaluations.reduce((sum, { counts }) => sum + counts[kind].right, 0),
  });
  return { links: sum('links'), titles: sum('titles'), authors: sum('authors') };
}

/** 1 where nothing was found, and in recall where nothing is labelled. */
export const precisionOf = ({ found, right }: { readonly found: number; readonly right: number }): number => (found === 0 ? 1 : right / found);
export const recallOf = ({ labelled, right }: { readonly labelled: number; readonly right: number }): number => (labelled === 0 ? 1 : right / labelled);
