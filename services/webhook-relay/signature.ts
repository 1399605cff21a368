// Whether a delivery is signed with one of the configured secrets: HMAC-SHA256 over the raw bytes.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../platform/config/secret.ts';

export type Signatures = {
  /** `header` is X-Hub-Signature-256: `sha256=` and 64 hexadecimal digits. */
  isValid(body: Buffer, header: string | undefined): boolean;
};

const form = /^sha256=([0-9a-f]{64})$/i;

/** @param secrets several, so that one can be rotated without a gap */
export function createSignatures(secrets: readonly Secret[]): Signatures {
  // Made once: a key given as text is imported anew for every delivery.
  const keys = secrets.map((secret) => createSecretKey(secret.reveal(), 'utf8'));
  return {
    isValid(body, header) {
      const hex = form.exec(header ?? '')?.[1];
      if (hex === undefined) return false;
      const given = Buffer.from(hex, 'hex');
      return keys.some((key) => timingSafeEqual(createHmac('sha256', key).update(body).digest(), given));
    },
  };
}
