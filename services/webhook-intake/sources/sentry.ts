// Sentry: issues, errors and alerts of an integration. https://docs.sentry.io/organization/integrations/integration-platform/webhooks/
import { lineAt, nearNow, signature, type Source, urlAt } from './source.ts';

/** Where the title is, by what the delivery is about. */
const titlePaths = [
  ['data', 'issue', 'title'],
  ['data', 'event', 'title'],
  ['data', 'error', 'title'],
  ['data', 'description_title'],
  ['data', 'comment'],
  ['data', 'installation', 'app', 'slug'],
] as const;
const urlPaths = [
  ['data', 'issue', 'web_url'],
  ['data', 'issue', 'permalink'],
  ['data', 'event', 'web_url'],
  ['data', 'error', 'web_url'],
  ['data', 'web_url'],
] as const;

/** Events that need attention: a new issue, an alert that was raised. */
const isFailure = (resource: string | undefined, action: string | undefined): boolean =>
  ((resource === 'event_alert' || resource === 'activity_alert') && action === 'triggered') ||
  (resource === 'metric_alert' && (action === 'critical' || action === 'warning')) ||
  ((resource === 'issue' || resource === 'error') && (action === 'created' || action === 'unresolved'));

export const sentry: Source = {
  name: 'sentry',
  vendor: 'Sentry',
  verification: nearNow(signature('Sentry-Hook-Signature'), 'Sentry-Hook-Timestamp'),
  headers: {
    'Sentry-Hook-Resource': 'The subject of the event',
    'Request-ID': 'The id of the delivery',
    'Sentry-Hook-Timestamp': 'When it was sent, in Unix seconds; more than 5 minutes from now 401',
  },
  example: {
    headers: {
      'Sentry-Hook-Resource': 'issue',
      'Request-ID': '0b8f6d1d-6b0a-4a6b-8f65-7f4c1f1f2a10',
      'Sentry-Hook-Timestamp': '1767225600',
    },
    body: {
      action: 'created',
      actor: { id: 'sentry', name: 'Sentry', type: 'application' },
      data: { issue: { id: '1170820242', title: 'TypeError: lever is not a function', web_url: 'https://sentry.example/issues/1170820242/' } },
    },
  },
  read({ payload, header }) {
    const resource = header('Sentry-Hook-Resource');
    const action = lineAt(payload, 'action');
    return { event: resource, action, key: [header('Request-ID')], isKeyUnsigned: true, isFailure: isFailure(resource, action) };
  },
  notice(payload, header) {
    const title = titlePaths.map((path) => lineAt(payload, ...path)).find((text) => text !== undefined);
    return {
      title: `Sentry: ${title ?? header('Sentry-Hook-Resource') ?? 'event'}`,
      text: [lineAt(payload, 'action'), lineAt(payload, 'actor', 'name')].filter(Boolean).join(' by '),
      url: urlPaths.map((path) => urlAt(payload, ...path)).find((url) => url !== null) ?? null,
    };
  },
};
