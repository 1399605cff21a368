// DeepSource: analyses and issues of repositories. https://docs.deepsource.com/docs/developers/webhooks/setup
import { lineAt, signature, type Source, urlAt } from './source.ts';

const status = (payload: unknown) => lineAt(payload, 'data', 'object', 'status');
const nameOf = (payload: unknown) => lineAt(payload, 'data', 'object', 'repository', 'name');

export const deepsource: Source = {
  name: 'deepsource',
  vendor: 'DeepSource',
  verification: signature('X-DeepSource-Signature'),
  example: {
    body: {
      id: 'evt_7nq2',
      type: 'analysis_run.updated',
      createdAt: 1767225600,
      data: { object: { runId: '4f0c', status: 'FAILURE', url: 'https://app.deepsource.example/gh/railway/signals/run/4f0c' } },
    },
  },
  read: ({ payload }) => ({
    event: lineAt(payload, 'type'),
    key: [lineAt(payload, 'id')],
    isFailure: /^(fail|timeout)/i.test(status(payload) ?? ''),
  }),
  notice: (payload) => ({
    title: `DeepSource: ${[lineAt(payload, 'type') ?? 'event', nameOf(payload)].filter(Boolean).join(' ')}`,
    text: status(payload) ?? '',
    url: urlAt(payload, 'data', 'object', 'url'),
  }),
};
