// Who an administrator is: a token from the settings, and its fingerprint for the audit.
import { scryptSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../../platform/config/secret.ts';
import { authorization, type Guard, isOneOf } from '../../platform/http/credentials.ts';
import type { Actor } from '../audit.ts';

/** One that the guard let pass. */
export type AdminRequest = { readonly headers: IncomingHttpHeaders; readonly requestId: string };
export type ActorOf = (request: AdminRequest) => Actor;

// The same in every replica and over every order of the list; slow, so that it does not help to guess a weak token.
const fingerprint = (token: string) => scryptSync(token, 'signalbox administrator', 4).toString('hex');

export function createAdminAuth(tokens: readonly Secret[]): { readonly guard: Guard; readonly actorOf: ActorOf } {
  const known = tokens.map((token) => ({ id: `admin-${fingerprint(token.reveal())}`, isToken: isOneOf([token]) }));
  return {
    guard: authorization('Bearer', tokens, { name: 'administrator', description: 'Of an administrator: a value of `Management__AdminApiKey`.' }),
    actorOf({ headers, requestId }) {
      const token = headers.authorization?.replace(/^bearer +/i, '').trimEnd() ?? '';
      const keyId = known.find(({ isToken }) => isToken(token))?.id ?? '';
      return { plane: 'management', keyId, requestId };
    },
  };
}
