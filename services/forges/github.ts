// GitHub. Its words and payloads are the form that everything else reads. https://docs.github.com/en/webhooks/webhook-events-and-payloads
import type { Forge } from './forge.ts';

/** `X-Forge-…` are the neutral names for the same headers. */
const both = (name: string) => [`x-github-${name}`, `x-forge-${name}`];

/** WebSub's header with SHA-256; all forges send it. */
export const hubSignature: Forge['signature'] = { header: 'X-Hub-Signature-256', form: { algorithm: 'sha256', prefix: 'sha256=' } };

export const github: Forge = {
  kind: 'github',
  name: 'GitHub',
  recognisedBy: both('event'),
  headers: {
    event: both('event'),
    eventType: [],
    deliveryId: both('delivery'),
    hookId: both('hook-id'),
    targetId: both('hook-installation-target-id'),
    targetType: both('hook-installation-target-type'),
    host: ['x-github-enterprise-host'],
  },
  signature: hubSignature,
  otherSignatures: { 'X-Hub-Signature': 'it is HMAC-SHA1, which can be forged', 'X-Gogs-Signature': 'Gogs is not supported' },
};
