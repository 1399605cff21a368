// How the URL of a broker connection is stored: sealed, and known again by a fingerprint, under keys that no dump of the database holds.
import { createHmac, createSecretKey, type KeyObject, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { nonceBytes, open, seal, SealBroken, tagBytes } from '../../platform/seal.ts';

export type UrlSealing = {
  /** The same for the same URL; says nothing of it to who lacks the key. */
  fingerprint(url: string): Buffer;
  seal(url: string): Buffer;
  /** @throws SealBroken when it was sealed under another password, for another queue or fingerprint, or is not what was sealed */
  open(sealed: Buffer, fingerprint: Buffer): string;
};

const keyBytes = 32;
// A person may have chosen the password: each guess is to cost 32 MiB and a tenth of a second (RFC 7914).
const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const derive = promisify<string, string, number, typeof cost, Buffer>(scrypt);

/** @returns undefined when the URL of the database holds no password, and so there is no key */
export async function createUrlSealing(databaseUrl: string, queue: string): Promise<UrlSealing | undefined> {
  const password = URL.parse(databaseUrl)?.password ?? '';
  if (password === '') return undefined;
  const derived = await derive(password, 'signalbox intake connections 1', 2 * keyBytes, cost);
  const [sealing, marking] = [createSecretKey(derived.subarray(0, keyBytes)), createSecretKey(derived.subarray(keyBytes))];
  derived.fill(0);
  return underKeys(sealing, marking, queue);
}

function underKeys(sealing: KeyObject, marking: KeyObject, queue: string): UrlSealing {
  const fingerprint = (url: string) => createHmac('sha256', marking).update(url).digest();
  const binding = (mark: Buffer) => Buffer.concat([Buffer.from(`signalbox broker url 1\0${queue}\0`), mark]);
  return {
    fingerprint,
    seal(url) {
      const { nonce, ciphertext, tag } = seal(sealing, Buffer.from(url), binding(fingerprint(url)));
      return Buffer.concat([nonce, ciphertext, tag]);
    },
    open(sealed, mark) {
      if (sealed.length < nonceBytes + tagBytes) throw new SealBroken('the sealed URL is too short');
      const [nonce, ciphertext, tag] = [sealed.subarray(0, nonceBytes), sealed.subarray(nonceBytes, -tagBytes), sealed.subarray(-tagBytes)];
      return open(sealing, { nonce, ciphertext, tag }, binding(mark)).toString();
    },
  };
}
