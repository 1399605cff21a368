// Which links no reader wants: social hosts, unsubscribe, preferences and view-in-browser, pages of the platform itself. Pure.
import type { Candidate } from './candidates.ts';
import { decode, placeOf } from './identity.ts';
import type { Rules } from './rules.ts';

/** @param url the identity of the candidate */
export function isNoise(candidate: Candidate, url: URL, rules: Rules): boolean {
  const { isDropped, isBare, text, line } = candidate;
  const saysNothing = isBare || text === '' || rules.genericTexts.test(text);
  return (
    isDropped ||
    rules.socialHosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`)) ||
    url.pathname.split('/').some((segment) => rules.droppedSegments.includes(lettersOf(segment))) ||
    rules.droppedTexts.some((pattern) => pattern.test(bare(text))) ||
    (saysNothing && rules.droppedPhrases.test(line)) ||
    rules.platforms.some(({ pages }) => pages.some((page) => page.test(placeOf(url))))
  );
}

const lettersOf = (segment: string): string =>
  decode(segment.slice(0, 100))
    .replace(/\.[a-z]{2,5}$/i, '')
    .normalize('NFKD')
    .replace(/[^a-z0-9]/gi, '')
    .toLowerCase();

const bare = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}.!]+$/gu, '');
