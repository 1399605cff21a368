// Events of Signalbox' own, which its services post here: https://www.standardwebhooks.com/ and docs/sources.md.
import { memberAt, textAt } from '../../platform/json.ts';
import { lineAt, type Source, standardWebhooks, urlAt } from './source.ts';

export const signalbox: Source = {
  name: 'signalbox',
  vendor: 'Signalbox',
  setting: 'Events__Secret',
  verification: standardWebhooks,
  headers: { 'webhook-id': 'The id of the event' },
  example: {
    headers: { 'webhook-id': '019b76da-a800-7000-8000-5f3c1e2d4a6b' },
    body: {
      type: 'broker.near_limit',
      timestamp: '2026-01-25T08:00:00.000Z',
      data: { title: 'BROKER_URL_1 has used 80 % of its messages', text: '1600000 of 2000000 in 2026-01', url: null, isFailure: true, broker: 'BROKER_URL_1' },
    },
  },
  read: ({ payload, header }) => ({
    event: lineAt(payload, 'type'),
    key: [header('webhook-id')],
    isFailure: memberAt(payload, 'data', 'isFailure') === true,
  }),
  notice: (payload) => ({
    title: lineAt(payload, 'data', 'title') ?? lineAt(payload, 'type') ?? 'Signalbox',
    text: textAt(payload, 'data', 'text') ?? '',
    url: urlAt(payload, 'data', 'url'),
  }),
};
