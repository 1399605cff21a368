// AppVeyor: builds that succeeded or failed. https://www.appveyor.com/docs/notifications/
import { memberAt } from '../../platform/json.ts';
import { authorizationValue, type Source, textAt, urlAt } from './source.ts';

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
        buildUrl: 'https://appveyor.example/project/railway/signals/builds/7001',
      },
    },
  },
  read: ({ payload }) => ({
    event: textAt(payload, 'eventName'),
    action: textAt(payload, 'eventData', 'status'),
    repository: textAt(payload, 'eventData', 'repositoryName'),
    key: [textAt(payload, 'eventData', 'buildId'), textAt(payload, 'eventData', 'status')],
    isFailure: memberAt(payload, 'eventData', 'failed') === true,
  }),
  notice: (payload) => ({
    title: `AppVeyor: ${[textAt(payload, 'eventData', 'projectName'), textAt(payload, 'eventData', 'buildVersion'), textAt(payload, 'eventName')].filter(Boolean).join(' ')}`,
    text: [textAt(payload, 'eventData', 'branch'), textAt(payload, 'eventData', 'commitMessage')].filter(Boolean).join(': '),
    url: urlAt(payload, 'eventData', 'buildUrl'),
  }),
};
