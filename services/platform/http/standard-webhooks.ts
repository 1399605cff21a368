// Signatures as Standard Webhooks has them: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac } from 'node:crypto';
import type { Secret } from '../config/secret.ts';

type Signed = {
  /** The same at every attempt. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
};

const prefix = 'whsec_';
/** `whsec_` and base64, as the specification writes it; any other text is the key itself. */
const keyOf = (secret: Secret): Buffer => {
  const text = secret.reveal();
  return text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), 'base64') : Buffer.from(text);
};

/** The headers of a message: one signature for each secret, so that a receiver can rotate its own. */
export const signStandard = (secrets: readonly Secret[], { id, timestamp, body }: Signed): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`).join(' '),
});
