// Who may write: the holder of one of the configured keys.
import type { Secret } from '../platform/config/secret.ts';
import { credentialRefused, type Guard, isOneOf } from '../platform/http/credentials.ts';

const header = 'X-Api-Key';

export function apiKey(valid: readonly Secret[]): Guard {
  const isValid = isOneOf(valid);
  return {
    name: header.toLowerCase(),
    scheme: { type: 'apiKey', in: 'header', name: header, description: 'A value of `Bookmarks__ApiKeys`.' },
    check(headers) {
      const presented = headers['x-api-key'];
      if (typeof presented !== 'string' || !isValid(presented)) throw credentialRefused(`${header}: <value>`, { 'WWW-Authenticate': header });
    },
  };
}
