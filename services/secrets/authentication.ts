// Who may ask: administrators with a token from the settings, applications with a key of which the database holds the hash.
import { hash, randomBytes, scryptSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { v7 as newId } from 'uuid';
import type { Secret } from '../platform/config/secret.ts';
import { authorization, createCredentials, type Guard } from '../platform/http/credentials.ts';
import { Common, type Problem } from '../platform/problem.ts';
import type { Actor } from './audit/store.ts';
import { keyPrefix } from './contract.ts';

/** The administrator of a request that the guard let pass. */
export type ActorOf = (request: { readonly headers: IncomingHttpHeaders; readonly requestId: string }) => Actor;

// The same in every replica and over every order of the list; slow, so that it does not help to guess a weak token.
const fingerprint = (token: string) => scryptSync(token, 'signalbox administrator', 4).toString('hex');

export function createAdminAuth(tokens: readonly Secret[]): { readonly guard: Guard; readonly actorOf: ActorOf } {
  const known = tokens.map((token) => ({ id: `admin-${fingerprint(token.reveal())}`, credentials: createCredentials([token]) }));
  return {
    guard: authorization('Bearer', createCredentials(tokens)),
    actorOf({ headers, requestId }) {
      const token = headers.authorization?.replace(/^bearer +/i, '').trimEnd() ?? '';
      const keyId = known.find(({ credentials }) => credentials.accept(token))?.id ?? '';
      return { plane: 'management', keyId, requestId };
    },
  };
}

/** A fast hash is enough: nobody guesses 160 random bits. */
const hashOfKey = (plain: string): Buffer => hash('sha256', plain, 'buffer');

/** Shown once, kept only as a hash. */
export function newApiKey() {
  const plain = keyPrefix + randomBytes(20).toString('hex');
  return { plain, hash: hashOfKey(plain), id: newId() };
}

const header = 'X-Api-Key';

/** The one answer to a key that is missing, wrong, rotated or of a deleted application. */
export const keyRefused = (): Problem => Common.unauthorized({ headers: { 'WWW-Authenticate': header } });

/** @throws Problem 401 when there is no key */
export function presentedKeyHash(headers: IncomingHttpHeaders): Buffer {
  const presented = headers['x-api-key'];
  if (typeof presented !== 'string' || presented === '') throw keyRefused();
  return hashOfKey(presented);
}

/** For what the handlers of the consumer plane do not check themselves; the database is asked each time. */
export const apiKeyGuard = (store: { isValid(keyHash: Buffer): Promise<boolean> }): Guard => ({
  name: header.toLowerCase(),
  scheme: { type: 'apiKey', in: 'header', name: header },
  async check(headers) {
    if (!(await store.isValid(presentedKeyHash(headers)))) throw keyRefused();
  },
});
