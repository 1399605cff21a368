// Seals bytes: AES-256-GCM (NIST SP 800-38D) with a fresh random nonce for every sealing, a full tag, additional data that must be the same again.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';

export type Sealed = { readonly nonce: Buffer; readonly ciphertext: Buffer; readonly tag: Buffer };

export const nonceBytes = 12;
export const tagBytes = 16;
const algorithm = 'aes-256-gcm';

/** What was sealed is not what is here, or not under this key. Says nothing else, and holds nothing. */
export class SealBroken extends Error {}

/** @param key of 32 bytes */
export function seal(key: KeyObject, plaintext: Buffer, bound: Buffer): Sealed {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return { nonce, ciphertext, tag: cipher.getAuthTag() };
}

/** @throws SealBroken */
export function open(key: KeyObject, { nonce, ciphertext, tag }: Sealed, bound: Buffer): Buffer {
  // A short tag would be checked in part only.
  if (nonce.length !== nonceBytes || tag.length !== tagBytes) throw new SealBroken('the seal has a wrong length');
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(bound).setAuthTag(tag);
  const beginning = decipher.update(ciphertext);
  try {
    return Buffer.concat([beginning, decipher.final()]);
  } catch {
    throw new SealBroken('the seal is broken');
  }
}
