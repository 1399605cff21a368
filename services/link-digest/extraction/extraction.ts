// Extracts the links of a mail, each once, with its best title and its authors. Pure.
import { readHtml } from '../../platform/mail/html.ts';
import { identityOf } from '../../platform/mail/url-identity.ts';
import { decode, parametersOf, placeOf } from '../../platform/mail/wrappers.ts';
import type { Candidate } from './candidates.ts';
import { linksOfHtml } from './html-links.ts';
import { isNoise, isNoisePage, saysNothing } from './noise.ts';
import { defaultRules, type Rules } from './rules.ts';
import { linksOfText } from './text-links.ts';
import { cutTitle, fold, isAddress, tidy } from './texts.ts';

/** A mail as its parser leaves it: the input of the extraction. */
export type ParsedMail = {
  /** Decoded; null where the mail has no subject, or a blank one. */
  readonly subject: string | null;
  /** The time of the Date header; null where there is none, or an impossible one. */
  readonly date: Date | null;
  /** The address of From. */
  readonly from: string | null;
  /** The name before that address. */
  readonly sender: string | null;
  /** The first address of To. */
  readonly to: string | null;
  readonly html: string | null;
  readonly text: string | null;
  /** The targets of List-Unsubscribe. */
  readonly unsubscribe: readonly string[];
};

export type FoundAuthor = {
  /** The byline, else the handle. */
  readonly name: string;
  /** The name on its platform, without `@`. */
  readonly handle: string | null;
  /** The author's own host; null with a handle. */
  readonly customDomain: string | null;
};

export type FoundLink = {
  /** The one identity of all spellings of the address: `identityOf`. */
  readonly url: string;
  /** The address as it stands in the mail. */
  readonly foundUrl: string;
  readonly title: string;
  readonly authors: readonly FoundAuthor[];
};

/** The page that an address in a mail leads to. */
type Target = {
  readonly identity: string;
  readonly url: URL;
  readonly isCounter: boolean;
  /** Whether it is on a host of the sender, or may be. */
  readonly isOwn: boolean;
  readonly isNoise: boolean;
};
type Found = { readonly target: Target; readonly candidates: Candidate[] };

/** Reads the HTML, or the text of a mail whose HTML has no links. Links are in the order of their first appearance. */
export function extract(mail: ParsedMail, rules: Rules = defaultRules): readonly FoundLink[] {
  const targetOf = createTargets(mail, rules);
  /** As a text, it is a logo, or the title of the newsletter above its issue. */
  const senderName = mail.sender === null ? null : withoutArticle(fold(tidy(mail.sender)));
  const found = new Map<string, Found>();
  /** Identities by host, noise included. */
  const hosts = new Map<string, Set<string>>();
  for (const candidate of candidatesOf(mail, rules)) {
    const target = targetOf(candidate.foundUrl);
    if (!target) continue;
    const { identity, url } = target;
    hosts.set(url.host, (hosts.get(url.host) ?? new Set()).add(identity));
    if (target.isNoise || isNoise(candidate, target, rules) || (target.isOwn && nameIn(candidate) === senderName)) continue;
    const same = found.get(identity);
    if (same) same.candidates.push(candidate);
    else found.set(identity, { target, candidates: [candidate] });
  }
  const isHomePage = ({ target: { url }, candidates }: Found) =>
    url.pathname === '/' &&
    (hosts.get(url.host)?.size ?? 0) > 1 &&
    (candidates.every(({ text }) => text === '') || (url.search === '' && isOfSender(url, mail.from)));
  /** A counter has an address for each place of a link; one that says nothing beside a heading that is a link leads to the same page, or is a logo. */
  const isAgain = ({ target: { identity, url, isCounter }, candidates }: Found) =>
    isCounter &&
    candidates.every((candidate) => {
      const titled = candidate.headingUrl === undefined || !saysNothing(candidate, rules) ? undefined : targetOf(candidate.headingUrl);
      return titled?.url.host === url.host && titled.identity !== identity && found.has(titled.identity);
    });
  const kept = [...found.values()].filter((one) => !isHomePage(one) && !isAgain(one));
  /** Headings that title a link already: a picture below one of them leads to the same page, where a counter gives each its own address. */
  const titled = new Set(
    kept.flatMap(({ candidates }) => candidates.filter(({ text }) => text !== '' && rules.genericTexts.test(text)).map(({ heading }) => heading)),
  );
  const isUntitledPicture = ({ target, candidates }: Found) => {
    if (!target.isCounter || candidates.some(({ text }) => text !== '')) return false;
    const heading = candidates[0]?.heading ?? '';
    const isUntitled = heading === '' || titled.has(heading);
    titled.add(heading);
    return isUntitled;
  };
  return kept.filter((one) => !isUntitledPicture(one)).map((one) => linkOf(one, rules));
}

/** The name of the sender, where it is his logo or the button that shares his newsletter. */
const nameIn = ({ text, alt }: Candidate): string => withoutArticle(fold(text || alt).replace(/^share /, ''));
const withoutArticle = (name: string): string => name.replace(/^the /, '');

/** Resolves each address once, since an image, a title and a "read more" share it. */
function createTargets({ unsubscribe, from }: ParsedMail, rules: Rules): (written: string) => Target | undefined {
  const leaves = new Set(unsubscribe.map((target) => identityOf(target)));
  const targets = new Map<string, Target | undefined>();
  function read(written: string): Target | undefined {
    const identity = identityOf(written);
    const url = identity === undefined ? null : URL.parse(identity);
    if (identity === undefined || !url) return undefined;
    const isCounter = isClickCounter(url, rules);
    const isOwn = isCounter || isOfSender(url, from);
    return { identity, url, isCounter, isOwn, isNoise: leaves.has(identity) || isNoisePage(url, isOwn, rules) };
  }
  return (written) => {
    if (!targets.has(written)) targets.set(written, read(written));
    return targets.get(written);
  };
}

/** True for every host where the mail names no sender. */
function isOfSender({ hostname }: URL, from: string | null): boolean {
  const domain = from?.split('@').at(-1)?.toLowerCase() ?? hostname;
  return hostname === domain || hostname.endsWith(`.${domain}`) || domain.endsWith(`.${hostname.replace(/^www\./, '')}`);
}

/** True for the address of a click counter: a segment of its path is a key, where other addresses have words, or a parameter is a long one. */
function isClickCounter(url: URL, { clickCounters }: Rules): boolean {
  const isKey = (part: string) => part.length >= 16 && /\d/.test(part) && /^[\w=%~.]+$|^[\da-f-]+$/i.test(part);
  return (
    clickCounters.test(url.hostname) ||
    url.pathname.split('/').some(isKey) ||
    parametersOf(url).some((parameter) => /=(?=[^=]*\d)[\w.%~+-]{32,}=*$/.test(parameter))
  );
}

/** HTML that a script sent as text. */
const isPage = /^\s*(?:<!doctype html|<html)\b/i;

function candidatesOf({ html, text }: ParsedMail, rules: Rules): readonly Candidate[] {
  const document = html === null ? undefined : readHtml(html);
  const linked = document ? linksOfHtml(document, rules) : [];
  if (linked.length > 0) return linked;
  if (isPage.test(text ?? '')) return linksOfHtml(readHtml(text ?? ''), rules);
  // HTML without anchors: mail programs show the addresses of its text as links.
  const isBlank = (text ?? '').trim() === '';
  return linksOfText(isBlank && document ? document.text : (text ?? ''), rules.genericTexts);
}

function linkOf({ target: { identity, url }, candidates }: Found, rules: Rules): FoundLink {
  return {
    url: identity,
    foundUrl: tidyUrl(candidates[0]?.foundUrl ?? identity),
    title: cutTitle(titleOf(url, candidates, rules)),
    authors: authorsOf(url, namesOf(candidates), rules),
  };
}

function namesOf(candidates: readonly Candidate[]): readonly string[] {
  for (const candidate of candidates) {
    const names = candidate.names();
    if (names.length > 0) return names;
  }
  return [];
}

const tidyUrl = (url: string): string => url.toWellFormed().replaceAll('\0', '');

/** A heading, else a text that is not generic, else the nearest heading, else any text, else the last segment of the URL, else its host. */
function titleOf(url: URL, candidates: readonly Candidate[], { genericTexts }: Rules): string {
  const saying = candidates.filter(({ text }) => text !== '' && !genericTexts.test(text) && !isAddress(text));
  const titles = [
    saying.find(({ isHeading }) => isHeading)?.text,
    saying[0]?.text,
    candidates.find(({ heading }) => heading !== '')?.heading,
    candidates.find(({ text }) => text !== '')?.text,
    tidy(decode(url.pathname.split('/').at(-1) ?? '')),
  ];
  return titles.find((title) => title !== undefined && title !== '') ?? url.hostname;
}

/** The handle on a platform; else, with a byline, the domain, unless it is a platform's. */
function authorsOf(url: URL, names: readonly string[], { platforms }: Rules): readonly FoundAuthor[] {
  const handle = handleAt(placeOf(url), platforms);
  if (handle !== undefined) return [{ name: names[0] ?? handle, handle, customDomain: null }];
  const { hostname } = url;
  const isPlatform = platforms.some(({ hosts }) => hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)));
  return isPlatform ? [] : names.map((name) => ({ name, handle: null, customDomain: hostname.replace(/^www\./, '') }));
}

function handleAt(place: string, platforms: Rules['platforms']): string | undefined {
  for (const { handles } of platforms) {
    for (const pattern of handles) {
      const handle = pattern.exec(place)?.[1];
      if (handle !== undefined) return handle;
    }
  }
  return undefined;
}
