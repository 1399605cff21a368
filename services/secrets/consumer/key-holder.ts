// The consumer plane's credential: the key of an application, asked of the database with every request.
import type { IncomingHttpHeaders } from 'node:http';
import type { Guard } from '../../platform/http/credentials.ts';
import { Common, type Problem } from '../../platform/problem.ts';
import { hashOfKey } from '../applications/api-key.ts';
import type { ConsumerStore } from './store.ts';

const header = 'X-Api-Key';

/** The one answer to a key that is missing, wrong, rotated or of a deleted application. */
export const noSuchKey = (): Problem => Common.unauthorized({ headers: { 'WWW-Authenticate': header } });

/** @throws Problem 401 when there is none */
export function presentedHash(headers: IncomingHttpHeaders): Buffer {
  const presented = headers['x-api-key'];
  if (typeof presented !== 'string' || presented === '') throw noSuchKey();
  return hashOfKey(presented);
}

/** For what the handlers of the plane do not check themselves. */
export const keyHolder = (store: Pick<ConsumerStore, 'isValid'>): Guard => ({
  name: header.toLowerCase(),
  scheme: { type: 'apiKey', in: 'header', name: header },
  async check(headers) {
    if (!(await store.isValid(presentedHash(headers)))) throw noSuchKey();
  },
});
