// Which links no reader wants: social hosts, unsubscribe, preferences and view-in-browser, pages of the platform itself. Pure.
import type { Candidate } from './candidates.ts';
import { decode, placeOf } from './identity.ts';
import type { Rules } from './rules.ts';

/** By where it leads. @param url the identity */
export function isNoisePage(url: URL, { socialHosts, droppedSegments, platforms }: Rules): boolean {
  const place = placeOf(url);
  return (
    socialHosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`)) ||
    url.pathname.split('/').some((segment) => droppedSegments.includes(lettersOf(segment))) ||
    platforms.some(({ pages }) => pages.some((page) => page.test(place)))
  );
}

/** By how it stands in the mail. */
export function isNoise({ isDropped, isBare, text, line }: Candidate, rules: Rules): boolean {
  const saysNothing = isBare || text === '' || rules.genericTexts.test(text);
  return isDropped || isDroppedText(bare(text), rules) || (saysNothing && rules.droppedPhrases.test(line));
}

const isDroppedText = (text: string, { droppedTexts }: Rules): boolean => text !== '' && droppedTexts.some((pattern) => pattern.test(text));

const lettersOf = (segment: string): string =>
  decode(segment.slice(0, 100))
    .replace(/\.[a-z]{2,5}$/i, '')
    .normalize('NFKD')
    .replace(/[^a-z0-9]/gi, '')
    .toLowerCase();

const bare = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}.!]+$/gu, '');
