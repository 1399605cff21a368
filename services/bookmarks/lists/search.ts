// The grammar of a search: words and "phrases", `-` before a term that must be missing, and `or` between alternatives.
import { quotationMarks } from '../../platform/postgres/text.ts';

/** A text that the bookmark must contain, or must not contain. */
export type Term = { readonly text: string; readonly isExcluded: boolean };

const token = /-?"[^"]*"|\S+/g;
const typographic = new RegExp(`[${quotationMarks}]`, 'g');

/** @returns alternatives, none without a term; a bookmark is found when it satisfies all terms of one of them */
export function readSearch(q: string): readonly (readonly Term[])[] {
  const tokens = q.replace(typographic, '"').match(token) ?? [];
  const isOnlyOr = tokens.every(isOr); // then the word itself is searched
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
