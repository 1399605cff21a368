// Push messages over HTTP, as ntfy takes them: JSON to the root of the server, https://docs.ntfy.sh/publish/#publish-as-json
import { describeError } from '../../platform/errors.ts';
import type { Secret } from '../../platform/config/secret.ts';
import type { ChannelSender, OutgoingMessage, SendOutcome } from './channel.ts';

type PushParts = { readonly url: string; readonly token?: Secret | undefined; readonly timeoutMs?: number };

const usualTimeoutMs = 15_000;
/** ntfy takes 4096 bytes of message; a longer one becomes an attachment, which many servers refuse. */
const longestBytes = 4000;

export function createPush({ url, token, timeoutMs = usualTimeoutMs }: PushParts): ChannelSender {
  const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token.reveal()}` }) };
  return {
    channel: 'push',
    async send({ recipient: topic, subject: title, body: message, url: click }: OutgoingMessage) {
      const body = JSON.stringify({ topic, title, message: cutBytes(message), ...(click !== null && { click }) });
      try {
        const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
        await response.body?.cancel();
        return outcomeOf(response.status);
      } catch (error) {
        return { kind: 'unavailable', reason: describeError(error instanceof Error && error.cause ? error.cause : error) };
      }
    },
  };
}

/** What is said of the message itself, or of its topic; anything else is the server's or the settings' fault. */
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
