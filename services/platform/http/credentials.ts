// Static credentials: lists of valid values, compared as digests in constant time, and the guards that ask for them.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Common } from '../problem.ts';
import type { Secret } from '../config/secret.ts';

const digest = (value: string) => createHash('sha256').update(value).digest();

export type Credentials = {
  /** Takes the same time whichever value is right, and whether one is. */
  accept(presented: string): boolean;
};

export function createCredentials(valid: readonly Secret[]): Credentials {
  const digests = valid.map((secret) => digest(secret.reveal()));
  return {
    accept(presented) {
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
