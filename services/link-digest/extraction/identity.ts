// The one identity of all spellings of an address: unwrapped, without tracking parameters. Pure.
import { hash } from 'node:crypto';
import { nameOf, parametersOf, unwrap, withoutTrailingSlashes } from '../../platform/mail/wrappers.ts';
import { defaultRules, type Rules } from './rules.ts';

/** In characters; longer addresses are no links. */
const longestUrl = 8192;

/** The address that a link leads to, in one spelling; undefined for a text that is no absolute http or https URL, or is too long. */
export function identityOf(written: string, rules: Rules = defaultRules): string | undefined {
  const url = unwrap(written);
  const identity = url && spell(url, rules);
  return identity === undefined || identity.length > longestUrl ? undefined : identity;
}

/** SHA-256, by which links are told apart. */
export const hashOf = (identity: string): Buffer => hash('sha256', identity, 'buffer');

function spell(url: URL, { tracking, keepsParameters }: Rules): string {
  const isKept = (parameter: string) => parameter !== '' && !tracking.test(nameOf(parameter));
  const all = url.search.slice(1);
  const query = keepsParameters.includes(url.hostname) ? all : parametersOf(url).filter(isKept).join('&');
  return `${url.protocol}//${url.host}${withoutTrailingSlashes(url.pathname) || '/'}${query === '' ? '' : `?${query}`}`;
}
