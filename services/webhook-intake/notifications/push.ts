// Push messages over HTTP, as ntfy takes them: JSON to the root of the server, https://docs.ntfy.sh/publish/#publish-as-json
import { z } from 'zod';
import { describeError } from '../../platform/errors.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { optional, secret, url } from '../../platform/config/settings.ts';
import { type ChannelSender, createChannel, type OutgoingMessage, type SendOutcome } from './channel.ts';

type PushParts = { readonly url: string; readonly token?: Secret | undefined; readonly timeoutMs?: number };

const usualTimeoutMs = 15_000;
/** ntfy takes 4096 bytes of message; a longer one becomes an attachment, which many servers refuse. */
const longestBytes = 4000;

export function createPush({ url: server, token, timeoutMs = usualTimeoutMs }: PushParts): ChannelSender {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token.reveal()}` }) };
  return {
    channel: 'push',
    async send({ recipient: topic, subject: title, body: message, url: click }: OutgoingMessage) {
      const body = JSON.stringify({ topic, title, message: cutBytes(message), ...(click !== null && { click }) });
      try {
        const response = await fetch(server, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
        await response.body?.cancel();
        return outcomeOf(response.status);
      } catch (error) {
        return { kind: 'unavailable', reason: describeError(error instanceof Error && error.cause ? error.cause : error) };
      }
    },
  };
}

/** A status about the message itself, or its topic; any other is the fault of the server or the settings. */
function outcomeOf(status: number): SendOutcome {
  const reason = `the push server answered ${status}`;
  if (status >= 200 && status < 300) return 'sent';
  if (status === 400 || status === 413 || status === 422) return { kind: 'refused', reason };
  if (status === 403 || status === 408 || status === 429) return { kind: 'retry', reason };
  return { kind: 'unavailable', reason };
}

function cutBytes(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= longestBytes) return text;
  // The first half of a character at the cut becomes U+FFFD.
  return `${bytes
    .subarray(0, longestBytes)
    .toString()
    .replace(/\ufffd$/, '')}…`;
}

export const push = createChannel({
  name: 'push',
  settings: {
    server: optional(url('Notifications__PushUrl', ['http', 'https'], { summary: 'The push server of notifications, which speaks as ntfy does' })),
    token: optional(secret('Notifications__PushToken', { summary: 'Access token of the push server' })),
  },
  recipient: z.string({ error: 'must be a topic' }).regex(/^[-_A-Za-z0-9]{1,64}$/, 'must be a topic: 1 to 64 letters, digits, - and _'),
  plural: 'topics',
  faults: ({ server }, isNamed) => (isNamed && server === undefined ? ['Notifications__PushUrl is required: the notification rules name push topics'] : []),
  open: ({ server, token }) => (server === undefined ? undefined : createPush({ url: server, token })),
});
