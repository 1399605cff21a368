// A delivery of each direct source, made up by the members that its vendor documents, and what has to become of it.
import type { Notice } from '../../../../services/webhook-intake/notifications/notice.ts';
import type { Source } from '../../../../services/webhook-intake/sources/source.ts';
import * as sources from '../../../../services/webhook-intake/sources/sources.ts';

export type Sample = {
  readonly source: Source;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: object;
  readonly event: string;
  readonly action?: string;
  readonly repository?: string;
  /** The key that tells a duplicate. */
  readonly deliveryId: string;
  readonly score: number;
  readonly notice: Notice;
};

export const samples: readonly Sample[] = [
  {
    source: sources.deepsource,
    body: {
      id: 'evt_7nq2',
      type: 'analysis_run.updated',
      createdAt: 1767225600,
      data: { object: { runId: '4f0c', status: 'FAILURE', url: 'https://app.deepsource.example/gh/railway/signals/run/4f0c' } },
    },
    event: 'analysis_run.updated',
    deliveryId: 'evt_7nq2',
    score: 8,
    notice: { title: 'DeepSource: analysis_run.updated', text: 'FAILURE', url: 'https://app.deepsource.example/gh/railway/signals/run/4f0c' },
  },
  {
    source: sources.sonarcloud,
    body: {
      serverUrl: 'https://sonar.example',
      taskId: 'AZ1-signals',
      status: 'SUCCESS',
      analysedAt: '2026-01-05T08:00:00+0000',
      project: { key: 'railway_signals', name: 'Signals', url: 'https://sonar.example/dashboard?id=railway_signals' },
      branch: { name: 'main', type: 'BRANCH', isMain: true, url: 'https://sonar.example/dashboard?id=railway_signals&branch=main' },
      qualityGate: { name: 'House gate', status: 'ERROR', conditions: [{ metric: 'new_coverage', operator: 'LESS_THAN', status: 'ERROR' }] },
    },
    event: 'ERROR',
    deliveryId: 'AZ1-signals',
    score: 8,
    notice: {
      title: 'Quality gate ERROR: Signals',
      text: 'Branch main, analysed 2026-01-05T08:00:00+0000',
      url: 'https://sonar.example/dashboard?id=railway_signals&branch=main',
    },
  },
  {
    source: sources.snyk,
    headers: { 'X-Snyk-Event': 'project_snapshot/v0', 'X-Snyk-Transport-ID': '5c7ad0a6-3a3e-4b8e-9d4b-2f6f0e8f1a11' },
    body: {
      project: { id: 'p-1', name: 'railway/signals:package.json', browseUrl: 'https://snyk.example/org/railway/project/p-1' },
      org: { id: 'o-1', name: 'railway' },
      newIssues: [{ id: 'SNYK-JS-LEVER-1' }, { id: 'SNYK-JS-LEVER-2' }],
      removedIssues: [],
    },
    event: 'project_snapshot/v0',
    deliveryId: '5c7ad0a6-3a3e-4b8e-9d4b-2f6f0e8f1a11',
    score: 8,
    notice: { title: 'Snyk: railway/signals:package.json', text: '2 new issues, 0 removed', url: 'https://snyk.example/org/railway/project/p-1' },
  },
  {
    source: sources.sentry,
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
    event: 'issue',
    action: 'created',
    deliveryId: '0b8f6d1d-6b0a-4a6b-8f65-7f4c1f1f2a10',
    score: 8,
    notice: { title: 'Sentry: TypeError: lever is not a function', text: 'created by Sentry', url: 'https://sentry.example/issues/1170820242/' },
  },
  {
    source: sources.vercel,
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
    event: 'deployment.succeeded',
    deliveryId: 'whd_2x',
    score: 4,
    notice: { title: 'Vercel: deployment.succeeded', text: 'signals-web, production', url: 'https://vercel.example/railway/signals-web/dpl_1' },
  },
  {
    source: sources.codacy,
    body: {
      commit: {
        data: { uuid: 'f00dfeedf00dfeedf00dfeedf00dfeedf00dfeed', urls: { delta: 'https://codacy.example/railway/signals/commit?cid=1' } },
        results: { fixed_count: 2, new_count: 0 },
      },
    },
    event: 'commit_result',
    deliveryId: 'f00dfeedf00dfeedf00dfeedf00dfeedf00dfeed 0 2',
    score: 4,
    notice: { title: 'Codacy: commit f00dfeedf00d', text: '0 new issues, 2 fixed', url: 'https://codacy.example/railway/signals/commit?cid=1' },
  },
  {
    source: sources.appveyor,
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
    event: 'build_failure',
    action: 'failed',
    repository: 'railway/signals',
    deliveryId: '7001 failed',
    score: 8,
    notice: {
      title: 'AppVeyor: signals 1.0.31 build_failure',
      text: 'main: Pull the other lever',
      url: 'https://appveyor.example/project/railway/signals/builds/7001',
    },
  },
  {
    source: sources.dockerhub,
    body: {
      callback_url: 'https://hub.example/u/railway/signals/hook/1/',
      push_data: { pushed_at: 1767225600, pusher: 'stationmaster', tag: 'v2', images: [] },
      repository: { repo_name: 'railway/signals', name: 'signals', namespace: 'railway', repo_url: 'https://hub.example/r/railway/signals', status: 'Active' },
    },
    event: 'push',
    repository: 'railway/signals',
    deliveryId: '1767225600 v2 railway/signals',
    score: 4,
    notice: { title: 'Docker Hub: railway/signals:v2 pushed', text: 'By stationmaster', url: 'https://hub.example/r/railway/signals' },
  },
  {
    source: sources.healthchecks,
    body: { code: '6f1b7a4e-6f57-4d6f-a2a9-8d2b9a3b7c55', name: 'Nightly backup', status: 'down', time: '2026-01-05T03:30:00+00:00' },
    event: 'down',
    deliveryId: '6f1b7a4e-6f57-4d6f-a2a9-8d2b9a3b7c55 down 2026-01-05T03:30:00+00:00',
    score: 8,
    notice: { title: 'Nightly backup is down', text: 'Healthchecks, 2026-01-05T03:30:00+00:00', url: null },
  },
  {
    source: sources.uptimerobot,
    body: {
      monitorID: 77001,
      monitorURL: 'https://signals.example/',
      monitorFriendlyName: 'Signals',
      alertType: 2,
      alertDetails: 'HTTP 200 - OK',
      alertDateTime: 1767225660,
    },
    event: 'up',
    deliveryId: '77001 1767225660',
    score: 4,
    notice: { title: 'Signals is up', text: 'HTTP 200 - OK', url: 'https://signals.example/' },
  },
];
