// Whether a body was signed with one of our secrets: an HMAC over its raw bytes, in a header.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

/** How a header holds a signature: the prefix as it is written, then the digest. */
export type SignatureForm = {
  readonly algorithm: 'sha1' | 'sha256' | 'sha512';
  readonly prefix: string;
  /** Hexadecimal unless given. */
  readonly encoding?: 'hex' | 'base64' | 'base64url';
};

export type Signatures = ReturnType<typeof createSignatures>;

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 };

/** RFC 4648, sections 4 and 5. */
const base64s = { base64: /^[A-Za-z0-9+/]+={0,2}$/, base64url: /^[A-Za-z0-9_-]+={0,2}$/ };

/** @param secrets several, so that one can be rotated without a gap */
export function createSignatures(secrets: readonly Secret[], { algorithm, prefix, encoding = 'hex' }: SignatureForm) {
  // Made once: a key given as text is imported anew for every body.
  const keys = secrets.map((secret) => createSecretKey(secret.reveal(), 'utf8'));
  const form = encoding === 'hex' ? new RegExp(`^[0-9a-f]{${2 * digestBytes[algorithm]}}$`, 'i') : base64s[encoding];
  // One part for nearly all: an update for each costs less than joining them.
  const digestBy = (key: KeyObject, parts: readonly (Buffer | string)[]) => {
    const hmac = createHmac(algorithm, key);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  };
  return {
    /** @param parts what was signed: the body, or with what the sender puts around it */
    isValid(parts: Buffer | readonly (Buffer | string)[], header: string | undefined): boolean {
      if (header?.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return false;
      const text = header.slice(prefix.length);
      const given = form.test(text) ? Buffer.from(text, encoding) : undefined;
      if (given?.length !== digestBytes[algorithm]) return false;
      const signed = Buffer.isBuffer(parts) ? [parts] : parts;
      return keys.some((key) => timingSafeEqual(digestBy(key, signed), given));
    },
  };
}
