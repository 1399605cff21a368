// The one identity of all spellings of an address: unwrapped, without tracking parameters. Pure.
import { hash } from 'node:crypto';
import { nameOf, parametersOf, unwrap, withoutTrailingSlashes } from './wrappers.ts';

/** In characters; a longer address has no identity. */
const longestUrl = 8192;

/** Names of tracking parameters, in any case; one that ends in `*` is a prefix. */
const trackingFamilies =
  'utm_* mtm_* pk_* gclid gbraid wbraid dclid fbclid fb_action_ids fb_source msclkid yclid ysclid twclid ttclid igshid mc_cid mc_eid _hsenc _hsmi __hs* ' +
  'mkt_tok _kx bsft_* ml_subscriber* oly_* vero_* elq* ck_subscriber_id s_cid cmpid xtor _branch_* source';
const tracking = new RegExp(`^(?:${trackingFamilies.replaceAll('*', '.*').replaceAll(' ', '|')})$`, 'is');

/** Hosts whose parameters are all kept; their subdomains are not among them. */
const keepsParameters: readonly string[] = ['github.com'];

/** The address that a link leads to, in one spelling; undefined for a text that is no absolute http or https URL, or is too long. */
export function identityOf(written: string): string | undefined {
  const url = unwrap(written);
  const identity = url && spell(url);
  return identity === undefined || identity.length > longestUrl ? undefined : identity;
}

/** SHA-256, by which addresses are told apart. */
export const hashOf = (identity: string): Buffer => hash('sha256', identity, 'buffer');

function spell(url: URL): string {
  const isKept = (parameter: string) => parameter !== '' && !tracking.test(nameOf(parameter));
  const all = url.search.slice(1);
  const query = keepsParameters.includes(url.hostname) ? all : parametersOf(url).filter(isKept).join('&');
  return `${url.protocol}//${url.host}${withoutTrailingSlashes(url.pathname) || '/'}${query === '' ? '' : `?${query}`}`;
}
