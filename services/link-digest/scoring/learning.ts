// Decisions on links, and the weights that authors and title words learn from them.
import type { LinkStatus } from '../contract.ts';
import type { Decision, DecisionStore, DecisionTransaction, LinkToDecide, Taught } from './decision-store.ts';
import { keywordsOf } from './keywords.ts';

/** Added to weights, which stay between -1 and 1; null teaches nothing. */
const lessons: Readonly<Record<LinkStatus, { readonly author: number; readonly keyword: number } | null>> = {
  Awaiting: null,
  Liked: { author: 0.2, keyword: 0.1 },
  DiscardedAfterReview: { author: -0.1, keyword: -0.05 },
  Discarded: { author: -0.2, keyword: -0.1 },
};

/** A change back within this time takes the lesson of the change before it back. */
const undoMs = 10 * 60_000;

type Change = { readonly ids: readonly string[]; readonly status: LinkStatus; readonly now: Date };

/** In hundredths, as weights are kept: sums of fractions are not exact. */
const add = (weight: number, step: number) => Math.min(Math.max(Math.round((weight + step) * 100), -100), 100) / 100;
const stepBetween = (before: number, after: number) => Math.round((after - before) * 100) / 100;

/** Weights while decisions change them; those that are not there have none. */
function createWeights(before: ReadonlyMap<string, number>) {
  const weights = new Map(before);
  return {
    teach(name: string, step: number): { readonly step: number; readonly isNew: boolean } {
      const weight = weights.get(name);
      const after = add(weight ?? 0, step);
      weights.set(name, after);
      return { step: stepBetween(weight ?? 0, after), isNew: weight === undefined };
    },
    /** A weight that this step alone has made is there no more. */
    unteach(name: string, { step, isNew = false }: { readonly step: number; readonly isNew?: boolean }): void {
      const weight = weights.get(name);
      if (weight === undefined) return;
      if (isNew && weight === step) weights.delete(name);
      else weights.set(name, add(weight, -step));
    },
    changed: () => [...weights].flatMap(([name, weight]) => (before.get(name) === weight ? [] : [{ name, weight }])),
    gone: () => [...before.keys()].filter((name) => !weights.has(name)),
  };
}
type Weights = ReturnType<typeof createWeights>;

type Knowledge = { readonly authors: Weights; readonly keywords: Weights; readonly authorsOf: ReadonlyMap<string, readonly string[]> };

const isUndo = ({ taught, statusBefore, decidedAt }: LinkToDecide, status: LinkStatus, now: Date): boolean =>
  taught !== undefined && statusBefore === status && decidedAt !== null && now.getTime() - decidedAt.getTime() <= undoMs;

/** Everything that is taught or taken back is read before, since each is there once for all links. */
async function readKnowledge(store: DecisionTransaction, links: readonly LinkToDecide[]): Promise<Knowledge> {
  const authorsOf = await store.authorsOf(links.map(({ id }) => id));
  const taughtBefore = links.flatMap(({ taught }) => taught ?? []);
  const authorIds = new Set([...[...authorsOf.values()].flat(), ...taughtBefore.flatMap(({ authors }) => authors.map(({ id }) => id))]);
  const words = new Set([
    ...links.flatMap(({ title }) => keywordsOf(title)),
    ...taughtBefore.flatMap(({ keywords }) => keywords.map(({ keyword }) => keyword)),
  ]);
  const authors = createWeights(authorIds.size === 0 ? new Map() : await store.lockAuthors([...authorIds]));
  return { authors, keywords: createWeights(words.size === 0 ? new Map() : await store.keywords([...words])), authorsOf };
}

function teach({ id, title }: LinkToDecide, status: LinkStatus, { authors, keywords, authorsOf }: Knowledge): Taught {
  const lesson = lessons[status];
  if (!lesson) return { authors: [], keywords: [] };
  const taughtAuthors = (authorsOf.get(id) ?? []).map((author) => ({ id: author, step: authors.teach(author, lesson.author).step }));
  const taughtKeywords = keywordsOf(title).map((keyword) => ({ keyword, ...keywords.teach(keyword, lesson.keyword) }));
  return { authors: taughtAuthors.filter(({ step }) => step !== 0), keywords: taughtKeywords.filter(({ step }) => step !== 0) };
}

function unteach(taught: Taught, { authors, keywords }: Knowledge): void {
  for (const { id, step } of taught.authors) authors.unteach(id, { step });
  for (const { keyword, ...lesson } of taught.keywords) keywords.unteach(keyword, lesson);
}

async function write(store: DecisionTransaction, decisions: readonly Decision[], { authors, keywords }: Knowledge): Promise<void> {
  const [taughtAuthors, taughtKeywords, forgotten] = [authors.changed(), keywords.changed(), keywords.gone()];
  if (taughtAuthors.length > 0) await store.writeAuthors(taughtAuthors.map(({ name, weight }) => ({ id: name, weight })));
  if (taughtKeywords.length > 0) await store.writeKeywords(taughtKeywords.map(({ name, weight }) => ({ keyword: name, weight })));
  if (forgotten.length > 0) await store.forgetKeywords(forgotten);
  await store.write(decisions);
}

/**
 * Sets the status of links, teaches, and marks their scores stale, in one transaction; for a link that has the status nothing happens.
 * @returns how many of the ids are links, and how many had another status
 */
export const changeStatus = ({ decide }: DecisionStore, { ids, status, now }: Change): Promise<{ readonly known: number; readonly changed: number }> =>
  decide(async (store) => {
    const links = await store.lock(ids);
    const others = links.filter((link) => link.status !== status);
    if (others.length === 0) return { known: links.length, changed: 0 };
    const knowledge = await readKnowledge(store, others);
    const decisions = others.map((link): Decision => {
      const { id } = link;
      if (!link.taught || !isUndo(link, status, now)) return { id, status, statusBefore: link.status, decidedAt: now, taught: teach(link, status, knowledge) };
      unteach(link.taught, knowledge);
      return { id, status, statusBefore: null, decidedAt: now, taught: null };
    });
    await write(store, decisions, knowledge);
    return { known: links.length, changed: decisions.length };
  });
