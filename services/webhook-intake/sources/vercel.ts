// Vercel: deployments and projects. https://vercel.com/docs/webhooks/webhooks-api
import { lineAt, signature, type Source, urlAt } from './source.ts';

export const vercel: Source = {
  name: 'vercel',
  vendor: 'Vercel',
  verification: signature('X-Vercel-Signature', { algorithm: 'sha1' }),
  example: {
    body: {
      id: 'whd_2x',
      type: 'deployment.succeeded',
      createdAt: 1767225600000,
      region: 'dub1',
      payload: {
        team: { id: 'team_1' },
        deployment: { id: 'dpl_1', name: 'signals-web', url: 'signals-web-1.vercel.example' },
        links: { deployment: 'https://vercel.example/railway/signals-web/dpl_1', project: 'https://vercel.example/railway/signals-web' },
        target: 'production',
      },
    },
  },
  read: ({ payload }) => ({
    event: lineAt(payload, 'type'),
    key: [lineAt(payload, 'id')],
    isFailure: /[.-](error|failed|attack|triggered|reached|aborted)$|-anomaly$/.test(lineAt(payload, 'type') ?? ''),
  }),
  notice: (payload) => ({
    title: `Vercel: ${lineAt(payload, 'type') ?? 'event'}`,
    text: [lineAt(payload, 'payload', 'deployment', 'name') ?? lineAt(payload, 'payload', 'project', 'name'), lineAt(payload, 'payload', 'target')]
      .filter(Boolean)
      .join(', '),
    url: urlAt(payload, 'payload', 'links', 'deployment') ?? urlAt(payload, 'payload', 'links', 'project'),
  }),
};
