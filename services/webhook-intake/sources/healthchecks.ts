// Healthchecks: a job that did not report in time, or does again. https://healthchecks.io/docs/configuring_notifications/
import { lineAt, sharedToken, type Source } from './source.ts';

export const healthchecks: Source = {
  name: 'healthchecks',
  vendor: 'Healthchecks',
  verification: sharedToken,
  example: {
    body: { code: '6f1b7a4e-6f57-4d6f-a2a9-8d2b9a3b7c55', name: 'Nightly backup', status: 'down', time: '2026-01-05T03:30:00+00:00' },
  },
  read: ({ payload }) => ({
    event: lineAt(payload, 'status'),
    key: [lineAt(payload, 'code'), lineAt(payload, 'status'), lineAt(payload, 'time')],
    isFailure: lineAt(payload, 'status') === 'down',
  }),
  notice: (payload) => ({
    title: `${lineAt(payload, 'name') ?? lineAt(payload, 'code') ?? 'A check'} is ${lineAt(payload, 'status') ?? 'unknown'}`,
    text: `Healthchecks, ${lineAt(payload, 'time') ?? 'at an unknown time'}`,
    url: null,
  }),
};
