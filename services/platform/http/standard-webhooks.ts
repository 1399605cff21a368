// Signatures as Standard Webhooks has them: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

/** The names of the headers, in lower case. */
export const standardHeaders = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

type Signed = {
  /** The same at every attempt. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number | string;
  readonly body: string | Buffer;
};

const prefix = 'whsec_';
/** `whsec_` and base64, as the specification writes it; any other text is the key itself. */
const keyOf = (secret: Secret): Buffer => {
  const text = secret.reveal();
  return text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), 'base64') : Buffer.from(text);
};

const digestOf = (secret: Secret, { id, timestamp, body }: Signed) => createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest();

/** The headers of a message: one signature for each secret, so that a receiver can rotate its own. */
export const signStandard = (secrets: readonly Secret[], signed: Signed): Record<string, string> => ({
  [standardHeaders.id]: signed.id,
  [standardHeaders.timestamp]: String(signed.timestamp),
  [standardHeaders.signature]: secrets.map((secret) => `v1,${digestOf(secret, signed).toString('base64')}`).join(' '),
});

/** Whether one of the signatures that were given is by one of the secrets. The caller judges the time. @param given the value of `webhook-signature` */
export function isStandardSignature(secrets: readonly Secret[], signed: Signed, given: string): boolean {
  const signatures = given.split(' ').flatMap((one) => (one.startsWith('v1,') ? [Buffer.from(one.slice('v1,'.length), 'base64')] : []));
  return secrets.some((secret) => {
    const digest = digestOf(secret, signed);
    return signatures.some((signature) => signature.length === digest.length && timingSafeEqual(signature, digest));
  });
}
