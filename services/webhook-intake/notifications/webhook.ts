// Events by POST, each whole and signed as Standard Webhooks has it.
import { z } from 'zod';
import type { Secret } from '../../platform/config/secret.ts';
import { optional, webhookSecretList } from '../../platform/config/settings.ts';
import { postStandard } from '../../platform/http/standard-webhooks.ts';
import { systemClock } from '../../platform/time.ts';
import { type ChannelSender, createChannel } from './channel.ts';

type WebhookParts = { readonly secrets: readonly Secret[]; readonly timeoutMs?: number; readonly clock?: () => Date };

const usualTimeoutMs = 15_000;

/** Fourteen attempts within a day: after 5 s, 10 s, 20 s and so on up to four hours. */
const retries = { pause: { firstMs: 5000, longestMs: 4 * 60 * 60_000 }, giveUpAfterMs: 24 * 60 * 60_000 };

export function createWebhook({ secrets, timeoutMs = usualTimeoutMs, clock = systemClock }: WebhookParts): ChannelSender {
  return {
    channel: 'webhook',
    sendsEvents: true,
    retries,
    async send({ id, recipient: url, event }) {
      if (!event) return { kind: 'refused', reason: 'the event was deleted by its retention' };
      const { payload, ...data } = event;
      // The payload is JSON text as it was received: it is neither parsed nor written anew.
      const type = JSON.stringify(`${event.source}.${event.event}`);
      const body = `{"type":${type},"timestamp":${JSON.stringify(event.receivedAt)},"data":${JSON.stringify(data).slice(0, -1)},"payload":${payload ?? 'null'}}}`;
      const outcome = await postStandard({ url, secrets, timeoutMs, clock }, { id, body });
      if (outcome.isAccepted) return 'sent';
      // Standard Webhooks: 410 means that the receiver wants no more. One receiver says nothing of another one.
      const { status, reason, retryAfterMs } = outcome;
      return { kind: status === 410 ? 'refused' : 'retry', reason, retryAfterMs };
    },
  };
}

/** A request to an address with a user and password cannot be made. */
function isWebUrl(text: string): boolean {
  const { protocol = '', username = '', password = '' } = URL.parse(text) ?? {};
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

export const webhook = createChannel({
  name: 'webhook',
  settings: {
    secrets: optional(
      webhookSecretList('Notifications__WebhookSecrets', {
        summary: 'Secrets that sign webhooks of events, such as whsec_ and base64; several for a rotation. Required where a rule names a webhook',
      }),
    ),
  },
  recipient: z
    .string({ error: 'must be a URL' })
    .max(2000, 'must be a URL of at most 2000 characters')
    .refine(isWebUrl, 'must be a URL of http or https without user and password'),
  plural: 'URLs',
  faults: ({ secrets = [] }, isNamed) =>
    isNamed && secrets.length === 0 ? ['Notifications__WebhookSecrets is required: the notification rules name webhooks'] : [],
  open: ({ secrets = [] }) => (secrets.length === 0 ? undefined : createWebhook({ secrets })),
});
