// Who may ask: static credentials compared as digests in constant time, guards that ask for them, and the path prefixes they protect.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Secret } from '../config/secret.ts';
import { Common } from '../problem.ts';
import type { Method } from './route.ts';

const digest = (value: string) => createHash('sha256').update(value).digest();

type Credentials = ReturnType<typeof createCredentials>;

export function createCredentials(valid: readonly Secret[]) {
  const digests = valid.map((secret) => digest(secret.reveal()));
  return {
    /** Takes the same time whichever value is right, and whether one is. */
    accept(presented: string): boolean {
      const given = digest(presented);
      return digests.reduce((found, one) => timingSafeEqual(one, given) || found, false);
    },
  };
}

/** Lets a request pass, or throws the one 401 that missing and wrong credentials share. */
export type Guard = {
  readonly name: string;
  /** OpenAPI security scheme object. */
  readonly scheme: Readonly<Record<string, string>>;
  check(headers: IncomingHttpHeaders): void | Promise<void>;
};

/**
 * The headers that a guard is asked with. A credential that is given twice is none: which one a proxy before us reads is anybody's
 * guess. Of several `Authorization` Node keeps the first; of any other header it joins the values, and what comes of that is no credential.
 */
export const presentedHeaders = ({ headers, headersDistinct }: IncomingMessage): IncomingHttpHeaders =>
  (headersDistinct['authorization']?.length ?? 0) > 1 ? { ...headers, authorization: undefined } : headers;

const refuse = (challenge: string) => Common.unauthorized({ headers: { 'WWW-Authenticate': challenge } });

/** `Authorization: <scheme> <value>`, the scheme in any case. RFC 9110 section 11.4. */
export function authorization(scheme: 'Bearer' | 'token', credentials: Credentials): Guard {
  const pattern = new RegExp(`^${scheme} +(\\S.*)$`, 'i');
  const described = scheme === 'Bearer' ? { type: 'http', scheme: 'bearer' } : { type: 'apiKey', in: 'header', name: 'Authorization' };
  return {
    name: scheme.toLowerCase(),
    scheme: described,
    check(headers) {
      const presented = pattern.exec(headers.authorization ?? '')?.[1];
      if (presented === undefined || !credentials.accept(presented.trimEnd())) throw refuse(scheme);
    },
  };
}

/** A header that holds nothing but the credential. */
export function headerCredential(header: string, credentials: Credentials): Guard {
  const name = header.toLowerCase();
  return {
    name,
    scheme: { type: 'apiKey', in: 'header', name: header },
    check(headers) {
      const presented = headers[name];
      if (typeof presented !== 'string' || !credentials.accept(presented)) throw refuse(header);
    },
  };
}

export type Limit = {
  /** Counts one request of a client address or other key; throws the 429 problem when the window is used up. @returns answer headers */
  count(key: string): Promise<Readonly<Record<string, string>>>;
};

/** A path prefix whose routes, known or not, share a credential and rate limits. */
export type Area = {
  /** `/api` covers `/api` and everything below it; `/` everything. */
  readonly prefix: `/${string}`;
  readonly methods?: readonly Method[];
  /** Counted before the credential is looked at. */
  readonly limit?: Limit;
  /** Checked for every path below the prefix, known or not, unless the route declares another `access`. */
  readonly guard?: Guard;
  /** Counted by a key of the request once its credential was accepted: a limit for each token. */
  readonly quota?: { readonly limit: Limit; readonly keyOf: (headers: IncomingHttpHeaders) => string };
};

/** The first area that covers a path; prefixes are compared in lower case, which can only make them cover more. */
export function findArea(areas: readonly Area[], method: string, path: string): Area | undefined {
  const lower = path.toLowerCase();
  return areas.find(({ prefix, methods }) => {
    const start = prefix === '/' ? '' : prefix.toLowerCase();
    const covers = lower === start || lower.startsWith(`${start}/`);
    return covers && (methods === undefined || methods.some((one) => one === method.toLowerCase() || (one === 'get' && method === 'HEAD')));
  });
}
