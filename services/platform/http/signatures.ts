// Whether a body was signed with one of our secrets: an HMAC over its raw bytes, in a header.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

/** How a header holds a signature: the prefix as it is written, then the digest in hexadecimal. */
export type SignatureForm = { readonly algorithm: 'sha256' | 'sha1'; readonly prefix: '' | 'sha256=' };

export type Signatures = ReturnType<typeof createSignatures>;

const hexDigits = { sha256: 64, sha1: 40 };

/** @param secrets several, so that one can be rotated without a gap */
export function createSignatures(secrets: readonly Secret[], { algorithm, prefix }: SignatureForm) {
  // Made once: a key given as text is imported anew for every body.
  const keys = secrets.map((secret) => createSecretKey(secret.reveal(), 'utf8'));
  const form = new RegExp(`^${prefix}([0-9a-f]{${hexDigits[algorithm]}})$`, 'i');
  return {
    isValid(body: Buffer, header: string | undefined): boolean {
      const hex = form.exec(header ?? '')?.[1];
      if (hex === undefined) return false;
      const given = Buffer.from(hex, 'hex');
      return keys.some((key) => timingSafeEqual(createHmac(algorithm, key).update(body).digest(), given));
    },
  };
}
