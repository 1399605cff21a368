// Administrators: who holds a token of the management plane, and by what name the audit knows it.
import { scryptSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { authorization, createCredentials, type Guard } from '../platform/http/credentials.ts';
import type { Secret } from '../platform/config/secret.ts';
import type { Actor } from './audit/store.ts';

type Asking = { readonly headers: IncomingHttpHeaders; readonly requestId: string };
/** Who asks, of a request that the guard let pass. */
export type ActorOf = (request: Asking) => Actor;

export type Administrators = {
  readonly guard: Guard;
  readonly actorOf: ActorOf;
};

// The same in every replica and over every order of the list; slow, so that it does not help to guess a weak token.
const fingerprint = (token: string) => scryptSync(token, 'signalbox administrator', 4).toString('hex');

export function createAdministrators(tokens: readonly Secret[]): Administrators {
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
