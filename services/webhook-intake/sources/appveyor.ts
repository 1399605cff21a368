// AppVeyor: builds that succeeded or failed. https://www.appveyor.com/docs/notifications/
import { memberAt } from '../../platform/json.ts';
import { authorizationValue, lineAt, type Source, urlAt } from './source.ts';

export const appveyor: Source = {
  name: 'appveyor',
  vendor: 'AppVeyor',
  verification: authorizationValue,
  example: {
    body: {
      eventName: 'build_failure',
      eventData: {
        passed: false,
        failed: true,
        status: 'failed',
        projectName: 'signals',
        buildId: 7001,
        buildVersion: '1.0.31',
        repositoryName: 'railway/signals',
        branch: 'main',
        commitMessage: 'Pull the other lever',
        started: '1/5/2026 8:00 AM',
        finished: '1/5/2026 8:04 AM',
        buildUrl: 'https://appveyor.example/project/railway/signals/builds/7001',
      },
    },
  },
  read: ({ payload }) => ({
    event: lineAt(payload, 'eventName'),
    action: lineAt(payload, 'eventData', 'status'),
    repository: lineAt(payload, 'eventData', 'repositoryName'),
    // A build that runs again keeps its id, and may end alike.
    key: [
      lineAt(payload, 'eventData', 'buildId'),
      lineAt(payload, 'eventData', 'status'),
      lineAt(payload, 'eventName'),
      lineAt(payload, 'eventData', 'finished') ?? lineAt(payload, 'eventData', 'started') ?? '',
    ],
    isFailure: memberAt(payload, 'eventData', 'failed') === true || lineAt(payload, 'eventName')?.endsWith('_failure') === true,
  }),
  notice: (payload) => ({
    title: `AppVeyor: ${[lineAt(payload, 'eventData', 'projectName'), lineAt(payload, 'eventData', 'buildVersion'), lineAt(payload, 'eventName')].filter(Boolean).join(' ')}`,
    text: [lineAt(payload, 'eventData', 'branch'), lineAt(payload, 'eventData', 'commitMessage')].filter(Boolean).join(': '),
    url: urlAt(payload, 'eventData', 'buildUrl'),
  }),
};
