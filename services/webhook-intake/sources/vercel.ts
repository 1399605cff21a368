// Vercel: deployments and projects. https://vercel.com/docs/webhooks/webhooks-api
import { signature, type Source, textAt, urlAt } from './source.ts';

export const vercel: Source = {
  name: 'vercel',
  vendor: 'Vercel',
  verification: signature('X-Vercel-Signature', { algorithm: 'sha1' }),
  read: ({ payload }) => ({
    event: textAt(payload, 'type'),
    key: [textAt(payload, 'id')],
    isFailure: /\.(error|failed)$/.test(textAt(payload, 'type') ?? ''),
  }),
  notice: (payload) => ({
    title: `Vercel: ${textAt(payload, 'type') ?? 'event'}`,
    text: [textAt(payload, 'payload', 'deployment', 'name'), textAt(payload, 'payload', 'target')].filter(Boolean).join(', '),
    url: urlAt(payload, 'payload', 'links', 'deployment') ?? urlAt(payload, 'payload', 'links', 'project'),
  }),
};
