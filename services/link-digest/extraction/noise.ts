// Tells links that no reader wants: social hosts, unsubscribe, preferences and view-in-browser, the platform's own pages. Pure.
import { decode, placeOf } from '../../platform/mail/wrappers.ts';
import type { Candidate } from './candidates.ts';
import { isAnnounced, isAnnouncement, isMailAction } from './other-languages.ts';
import type { Rules } from './rules.ts';
import { fold } from './texts.ts';

/** Decides by the address. @param url the identity */
export function isNoisePage(url: URL, isOwn: boolean, { socialHosts, droppedSegments, droppedPages, droppedQueries, platforms }: Rules): boolean {
  const place = placeOf(url);
  const isHere = (page: RegExp) => page.test(place);
  return (
    socialHosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`)) ||
    isDroppedPath(url, isOwn, droppedSegments) ||
    isDroppedHost(url.hostname, droppedSegments) ||
    droppedPages.some(isHere) ||
    droppedQueries.test(url.search) ||
    platforms.some(({ pages }) => pages.some(isHere))
  );
}

/** Decides by the candidate in the mail. */
export function isNoise(
  candidate: Candidate,
  { url, isCounter, isOwn }: { readonly url: URL; readonly isCounter: boolean; readonly isOwn: boolean },
  rules: Rules,
): boolean {
  const { isDropped, isBare, isIcon, text, alt, line } = candidate;
  // An address for leaving, or of an online version, has a key of the recipient or of the mail; a line that says unsubscribe tells enough.
  const isOfMail = isOwn || url.search !== '' || /\d/.test(url.pathname);
  const isNoneByItself =
    isDropped ||
    isDroppedText(bare(text || alt), isOwn, rules) ||
    (isIcon && !isPost(url, rules)) ||
    (text === '' && (picture.test(url.pathname) || rules.droppedIcons.test(alt) || (isCounter && rules.logos.test(alt)))) ||
    (isOwn && rules.ratings.test(text));
  if (isNoneByItself) return true;
  const isSilent = saysNothing(candidate, rules);
  const isPointer = isBare || text === '' || rules.pointers.test(text);
  const isJoining = rules.joining.test(text);
  if (!isSilent && !isPointer && !isJoining) return false;
  const around = line();
  return (isSilent && rules.menus.test(around)) || (isPointer && isDroppedLine(around, isOfMail, rules)) || (isJoining && rules.forwarded.test(around));
}

/** An image that leads to itself in another size. */
const picture = /\.(?:avif|gif|jpe?g|png|webp)$/i;

const isPost = (url: URL, { platforms }: Rules): boolean => {
  const place = placeOf(url);
  return platforms.some(({ handles }) => handles.some((handle) => handle.test(place)));
};

/** Whether its own text tells nothing of the page. */
export const saysNothing = ({ text }: Candidate, { genericTexts }: Rules): boolean => text === '' || genericTexts.test(text);

function isDroppedLine(line: string, isOfMail: boolean, { droppedPhrases, leaving }: Rules): boolean {
  if (droppedPhrases.test(line) && (isOfMail || leaving.test(line))) return true;
  const folded = fold(line);
  return isAnnounced(folded) || isMailAction(folded);
}

/** Longer texts are no button, and no sentence that says what a click does. */
const longestAction = 160;

function isDroppedText(text: string, isOfSender: boolean, { droppedTexts, senderTexts }: Rules): boolean {
  if (text === '' || text.length > longestAction) return false;
  if (droppedTexts.some((pattern) => pattern.test(text)) || (isOfSender && senderTexts.some((pattern) => pattern.test(text)))) return true;
  const folded = fold(text);
  return isMailAction(folded) || isAnnouncement(folded);
}

const kindOfMail = /^(?:e?mails?|newsletters?|notifications?|subscriptions?|confirm)$/i;
/** Segments that may follow a dropped one, a recipient's key or a kind of mail: `/unsubscribe/7f3a`, `/preferences/emails`. `/webview/performance` is a page. */
const follows = (segment: string): boolean => /\d|^.{20,}$/.test(segment) || kindOfMail.test(segment);

/** On hosts of others `/wiki/Unsubscribe` and `/webkit/WebView` are pages. */
function isDroppedPath({ pathname, search }: URL, isOwn: boolean, droppedSegments: readonly string[]): boolean {
  const segments = pathname.split('/').filter((segment) => segment !== '');
  const last = segments.findLastIndex((segment) => droppedSegments.includes(lettersOf(segment)));
  const [before, following] = [segments[last - 1], segments.slice(last + 1)];
  const isPage = !isOwn && search === '' && following.length === 0 && before !== undefined && !kindOfMail.test(before);
  return last >= 0 && !isPage && following.every(follows);
}

/** `unsubscribe.example.org`; a domain of this name is none. */
function isDroppedHost(hostname: string, droppedSegments: readonly string[]): boolean {
  const labels = hostname.split('.');
  return labels.length > 2 && droppedSegments.includes(labels[0] ?? '');
}

const lettersOf = (segment: string): string =>
  isPlain.test(segment)
    ? segment
    : decode(segment.slice(0, 100))
        .replace(/\.[a-z]{2,5}$/i, '')
        .normalize('NFKD')
        .replace(/[^a-z0-9]/gi, '')
        .toLowerCase();
const isPlain = /^[a-z0-9]*$/;

const bare = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}.!]+$/gu, '').replace(/^(?:to|please|para|pour|per|zum) (?=\p{L})/iu, '');
