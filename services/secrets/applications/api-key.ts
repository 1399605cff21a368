// Consumer keys: made here, shown once, kept only as a hash.
import { createHash, randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { keyPrefix } from '../contract.ts';

/** A fast hash is enough: nobody guesses 160 random bits. */
export const hashOfKey = (plain: string): Buffer => createHash('sha256').update(plain).digest();

export function newApiKey() {
  const plain = keyPrefix + randomBytes(20).toString('hex');
  return { plain, hash: hashOfKey(plain), id: newId() };
}
