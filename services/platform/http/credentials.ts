// Who may ask: static credentials compared as digests in constant time, the guard that asks for them, and the path prefixes they protect.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../config/secret.ts';
import { Common } from '../problem.ts';

const digest = (value: string) => createHash('sha256').update(value).digest();

/** Whether a presented text is one of the valid ones: it takes the same time whichever is right, and whether one is. */
export function isOneOf(valid: readonly Secret[]): (presented: string) => boolean {
  const digests = valid.map((secret) => digest(secret.reveal()));
  return (presented) => {
    const given = digest(presented);
    return digests.reduce((found, one) => timingSafeEqual(one, given) || found, false);
  };
}

/** Lets a request pass, or throws the one 401 that missing and wrong credentials share. */
export type Guard = {
  readonly name: string;
  /** OpenAPI security scheme object. */
  readonly scheme: Readonly<Record<string, string>>;
  /** @param query what follows the `?`, as it came */
  check(headers: IncomingHttpHeaders, query: string): void | Promise<void>;
};

/**
 * The one 401 of missing and wrong credentials, which tells how to send one.
 * @param form of the header: `Authorization: token <value>`
 */
export const credentialRefused = (form: string, headers: Readonly<Record<string, string>> = {}) =>
  Common.unauthorized({ detail: `The credential is missing or wrong. Send \`${form}\`.`, headers });

/** How the API description names a credential, and where a caller finds its value, in Markdown. */
export type DescribedCredential = { readonly name?: string; readonly description?: string };

/** `Authorization: <scheme> <value>`, the scheme in any case. RFC 9110 section 11.4. */
export function authorization(scheme: 'Bearer' | 'token', valid: readonly Secret[], described: DescribedCredential = {}): Guard {
  const isValid = isOneOf(valid);
  const pattern = new RegExp(`^${scheme} +(\\S.*)$`, 'i');
  const { name = scheme.toLowerCase(), description = '' } = described;
  return {
    name,
    scheme: schemeOf(scheme, description),
    check(headers) {
      const presented = pattern.exec(headers.authorization ?? '')?.[1];
      if (presented === undefined || !isValid(presented.trimEnd())) throw credentialRefused(`Authorization: ${scheme} <value>`, { 'WWW-Authenticate': scheme });
    },
  };
}

/** HTTP has no scheme `token`: who enters a credential for it must write the whole value of the header. */
const schemeOf = (scheme: 'Bearer' | 'token', description: string): Guard['scheme'] =>
  scheme === 'Bearer'
    ? { type: 'http', scheme: 'bearer', description }
    : { type: 'apiKey', in: 'header', name: 'Authorization', description: `${description} Enter \`token\`, a space, and the value.`.trim() };

export type Limit = {
  /** Counts one request of a client address or other key; throws the 429 problem when the window is used up. @returns answer headers */
  count(key: string): Promise<Readonly<Record<string, string>>>;
};

export type FailureLimit = Limit & {
  /** Throws the same problem when the window is used up, without counting. */
  check(key: string): Promise<void>;
};

/** A path prefix whose routes, known or not, share a credential and rate limits. */
export type Area = {
  /** `/api` covers `/api` and everything below it; `/` everything. */
  readonly prefix: `/${string}`;
  /** Counted before the credential is looked at. */
  readonly limit?: Limit;
  /** Counts requests that the guard refused; an address that has used it up is refused before its credential is looked at. */
  readonly failureLimit?: FailureLimit;
  /** Checked for every path below the prefix, known or not, unless the route declares another `access`. */
  readonly guard?: Guard;
};

/** The first area that covers a path; prefixes are compared in lower case, which can only make them cover more. */
export const findArea = (areas: readonly Area[], path: string): Area | undefined =>
  areas.find(({ prefix }) => `${path}/`.toLowerCase().startsWith(prefix === '/' ? prefix : `${prefix.toLowerCase()}/`));
