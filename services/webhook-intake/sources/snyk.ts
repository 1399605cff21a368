// Snyk: issues that a project has gained or lost. https://docs.snyk.io/snyk-api/using-specific-snyk-apis/webhooks-apis/webhooks
import { countAt, lineAt, signature, type Source, urlAt } from './source.ts';

export const snyk: Source = {
  name: 'snyk',
  vendor: 'Snyk',
  verification: signature('X-Hub-Signature', { prefix: 'sha256=' }),
  headers: { 'X-Snyk-Event': 'The kind of the event, with its version', 'X-Snyk-Transport-ID': 'The id of the delivery' },
  example: {
    headers: { 'X-Snyk-Event': 'project_snapshot/v0', 'X-Snyk-Transport-ID': '5c7ad0a6-3a3e-4b8e-9d4b-2f6f0e8f1a11' },
    body: {
      project: { id: 'p-1', name: 'railway/signals:package.json', browseUrl: 'https://snyk.example/org/railway/project/p-1' },
      org: { id: 'o-1', name: 'railway' },
      newIssues: [{ id: 'SNYK-JS-LEVER-1' }, { id: 'SNYK-JS-LEVER-2' }],
      removedIssues: [],
    },
  },
  read: ({ payload, header }) => ({
    event: header('X-Snyk-Event'),
    key: [header('X-Snyk-Transport-ID')],
    isKeyUnsigned: true,
    isFailure: countAt(payload, 'newIssues') > 0,
  }),
  notice: (payload, header) => ({
    title: `Snyk: ${lineAt(payload, 'project', 'name') ?? header('X-Snyk-Event') ?? 'event'}`,
    text: `${countAt(payload, 'newIssues')} new issues, ${countAt(payload, 'removedIssues')} removed`,
    url: urlAt(payload, 'project', 'browseUrl'),
  }),
};
