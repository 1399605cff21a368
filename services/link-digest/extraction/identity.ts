// One identity for each address: what says nothing of the page is taken away, and wrappers that carry their target are undone, without any network. Pure.
import { hash } from 'node:crypto';
import { memberAt } from '../../platform/json.ts';
import { defaultRules, type Rules, type Wrapper } from './rules.ts';

const mostWrappers = 5;
/** In characters; what is longer is no link. */
const longestUrl = 8192;

/** The address that a link leads to, in one spelling; undefined for what is no absolute http or https URL, or is too long. */
export function identityOf(written: string, rules: Rules = defaultRules): string | undefined {
  let url = readUrl(written);
  for (let times = 0; url && times < mostWrappers; times += 1) {
    const target = targetOf(url, rules);
    if (!target) break;
    url = target;
  }
  const identity = url && spell(url, rules);
  return identity === undefined || identity.length > longestUrl ? undefined : identity;
}

/** SHA-256, by which links are told apart. */
export const hashOf = (identity: string): Buffer => hash('sha256', identity, 'buffer');

/** Host and path, as the patterns of rules see them. */
export const placeOf = (url: URL): string => `${url.host}${withoutTrailingSlashes(url.pathname)}`;

export function readUrl(written: string): URL | undefined {
  const text = written.trim();
  return text.length <= longestUrl && /^https?:\/\//i.test(text) ? (URL.parse(text) ?? undefined) : undefined;
}

function spell(url: URL, { tracking, keepsParameters }: Rules): string {
  const isKept = (parameter: string) => parameter !== '' && !tracking.test(nameOf(parameter));
  const all = url.search.slice(1);
  const query = keepsParameters.includes(url.hostname) ? all : parametersOf(url).filter(isKept).join('&');
  return `${url.protocol}//${url.host}${withoutTrailingSlashes(url.pathname) || '/'}${query === '' ? '' : `?${query}`}`;
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

// Not URLSearchParams: it spells what it keeps anew, and reads a `+` of an address within as a space.
const parametersOf = (url: URL): readonly string[] => url.search.slice(1).split('&');
const nameOf = (parameter: string): string => decode(parameter.split('=', 1)[0] ?? '');
const valueOf = (parameter: string): string => decode(parameter.slice(parameter.indexOf('=') + 1));

export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function targetOf(url: URL, { wrappers }: Rules): URL | undefined {
  const place = placeOf(url);
  for (const wrapper of wrappers) {
    const match = wrapper.at.exec(place);
    const target =
      match &&
      carriedBy(url, wrapper, match[1] ?? '')
        .map(readUrl)
        .find((one) => one !== undefined);
    if (target) return target;
  }
  return undefined;
}

function carriedBy(url: URL, wrapper: Wrapper, encoded: string): readonly string[] {
  if ('member' in wrapper) return [readMember(encoded, wrapper.member)].filter((target) => target !== undefined);
  const parameters = parametersOf(url);
  return wrapper.parameters.flatMap((name) => parameters.filter((parameter) => nameOf(parameter) === name).map(valueOf));
}

function readMember(encoded: string, member: string): string | undefined {
  try {
    const value = memberAt(JSON.parse(Buffer.from(encoded, 'base64url').toString()), member);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
