// Messages as Standard Webhooks has them: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Secret } from '../config/secret.ts';
import { describeError } from '../errors.ts';
import { systemClock } from '../time.ts';

type Message = {
  /** The same at every attempt. */
  readonly id: string;
  readonly body: string;
};

type Signed = Message & {
  /** Seconds since 1970. */
  readonly timestamp: number;
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

export const standardHeaders = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const;

export const toleranceSeconds = 5 * 60;
/** Senders give one for each of their secrets; more are not computed. */
const maxSignatures = 20;

/** The id of a message of Svix. */
export const svixId = 'svix-id';

/** A header of a message, by its name or by that of Svix, whose senders have the same form. */
const standardHeader = (headers: IncomingHttpHeaders, part: keyof typeof standardHeaders): string | undefined => {
  const value = headers[standardHeaders[part]] ?? headers[`svix-${part}`];
  return typeof value === 'string' ? value : undefined;
};

/** @returns whether one of the signatures is by one of the secrets; `late`: it is, but its time is more than five minutes from now */
export function createStandardVerifier(secrets: readonly Secret[], clock: () => Date = systemClock) {
  const keys = secrets.map(keyOf);
  return (body: Buffer, headers: IncomingHttpHeaders): 'valid' | 'wrong' | 'late' => {
    const [id, timestamp, signatures] = [standardHeader(headers, 'id'), standardHeader(headers, 'timestamp'), standardHeader(headers, 'signature')];
    if (id === undefined || timestamp === undefined || signatures === undefined || !/^\d{1,12}$/.test(timestamp)) return 'wrong';
    const expected = keys.map((key) => createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest());
    const isSigned = signatures
      .split(' ', maxSignatures)
      .filter((signature) => signature.startsWith('v1,'))
      .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'))
      .some((given) => expected.some((one) => given.length === one.length && timingSafeEqual(given, one)));
    if (!isSigned) return 'wrong';
    return Math.abs(clock().getTime() / 1000 - Number(timestamp)) > toleranceSeconds ? 'late' : 'valid';
  };
}

export type Receiver = { readonly url: string; readonly secrets: readonly Secret[]; readonly timeoutMs: number; readonly clock: () => Date };

/** `status` is undefined when there was no answer; `retryAfterMs` is what the receiver asks for. */
export type PostOutcome =
  { readonly isAccepted: true } | { readonly isAccepted: false; readonly status?: number; readonly reason: string; readonly retryAfterMs?: number | undefined };

/** `Retry-After` has seconds or a date (RFC 9110 §10.2.3). @returns undefined where neither is there, or it is over */
function retryAfterMsOf({ headers }: Response, now: Date): number | undefined {
  const written = headers.get('Retry-After') ?? '';
  const ms = /^\d{1,9}$/.test(written) ? 1000 * Number(written) : Date.parse(written) - now.getTime();
  return ms > 0 ? ms : undefined;
}

/** Posts a message and its signatures. A redirect is not followed and counts as a refusal. Never rejects. */
export async function postStandard({ url, secrets, timeoutMs, clock }: Receiver, message: Message): Promise<PostOutcome> {
  const signatures = signStandard(secrets, { ...message, timestamp: Math.floor(clock().getTime() / 1000) });
  const headers = { 'Content-Type': 'application/json', ...signatures };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: message.body, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    await response.body?.cancel();
    if (response.ok) return { isAccepted: true };
    const { status } = response;
    return { isAccepted: false, status, reason: `the receiver answered ${status}`, retryAfterMs: retryAfterMsOf(response, clock()) };
  } catch (error) {
    return { isAccepted: false, reason: describeError(error instanceof Error && error.cause ? error.cause : error) };
  }
}
