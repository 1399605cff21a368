// The grammar of a search: words and "phrases", `-` before what must be missing, and `or` between alternatives.

/** A text that must be in the bookmark, or, excluded, must not be. */
export type Term = { readonly text: string; readonly isExcluded: boolean };

const token = /-?"[^"]*"|\S+/g;

/** Alternatives, of each of which every term counts. Without a term: none. `or` binds weaker than the words around it. */
export function readSearch(q: string): readonly (readonly Term[])[] {
  const tokens = q.match(token) ?? [];
  const isOnlyOr = tokens.every(isOr);
  const alternatives: Term[][] = [[]];
  for (const text of tokens) {
    if (isOr(text) && !isOnlyOr) alternatives.push([]);
    else alternatives.at(-1)?.push(termOf(text));
  }
  return alternatives.map((terms) => distinct(terms.filter(({ text }) => text !== ''))).filter((terms) => terms.length > 0);
}

/** The words and phrases that a bookmark is ranked by. */
export const wantedText = (alternatives: readonly (readonly Term[])[]): string =>
  alternatives
    .flat()
    .flatMap(({ text, isExcluded }) => (isExcluded ? [] : [text]))
    .join(' ');

const isOr = (text: string) => text.toLowerCase() === 'or';

function termOf(text: string): Term {
  const [, minus = '', phrase] = /^(-?)"([^"]*)"$/.exec(text) ?? [];
  if (phrase !== undefined) return { text: phrase.trim().replaceAll(/\s+/g, ' '), isExcluded: minus !== '' };
  const isExcluded = text.length > 1 && text.startsWith('-');
  return { text: isExcluded ? text.slice(1) : text, isExcluded };
}

const distinct = (terms: readonly Term[]) => [...new Map(terms.map((term) => [`${term.isExcluded} ${term.text}`, term])).values()];
