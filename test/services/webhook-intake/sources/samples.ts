// The example of each direct source, and what has to become of it.
import type { Notice } from '../../../../services/webhook-intake/notifications/notice.ts';
import type { Source } from '../../../../services/webhook-intake/sources/source.ts';
import * as sources from '../../../../services/webhook-intake/sources/sources.ts';

type Expected = {
  readonly source: Source;
  readonly event: string;
  readonly action?: string;
  readonly repository?: string;
  /** The key that tells a duplicate. */
  readonly deliveryId: string;
  readonly score: number;
  readonly notice: Notice;
};

const expected: readonly Expected[] = [
  {
    source: sources.deepsource,
    event: 'analysis_run.updated',
    deliveryId: 'evt_7nq2',
    score: 8,
    notice: { title: 'DeepSource: analysis_run.updated', text: 'FAILURE', url: 'https://app.deepsource.example/gh/railway/signals/run/4f0c' },
  },
  {
    source: sources.sonarcloud,
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
    event: 'project_snapshot/v0',
    deliveryId: '5c7ad0a6-3a3e-4b8e-9d4b-2f6f0e8f1a11',
    score: 8,
    notice: { title: 'Snyk: railway/signals:package.json', text: '2 new issues, 0 removed', url: 'https://snyk.example/org/railway/project/p-1' },
  },
  {
    source: sources.sentry,
    event: 'issue',
    action: 'created',
    deliveryId: '0b8f6d1d-6b0a-4a6b-8f65-7f4c1f1f2a10',
    score: 8,
    notice: { title: 'Sentry: TypeError: lever is not a function', text: 'created by Sentry', url: 'https://sentry.example/issues/1170820242/' },
  },
  {
    source: sources.vercel,
    event: 'deployment.succeeded',
    deliveryId: 'whd_2x',
    score: 4,
    notice: { title: 'Vercel: deployment.succeeded', text: 'signals-web, production', url: 'https://vercel.example/railway/signals-web/dpl_1' },
  },
  {
    source: sources.codacy,
    event: 'commit.analyzed',
    action: 'failed',
    repository: 'railway/signals',
    deliveryId: '7d9f2a60-5b43-4e7c-9d54-1a2b3c4d5e6f',
    score: 8,
    notice: { title: 'Codacy: commit.analyzed railway/signals failed', text: 'main, f00dfeedf00d', url: null },
  },
  {
    source: sources.appveyor,
    event: 'build_failure',
    action: 'failed',
    repository: 'railway/signals',
    deliveryId: '7001 failed build_failure 1/5/2026 8:04 AM',
    score: 8,
    notice: {
      title: 'AppVeyor: signals 1.0.31 build_failure',
      text: 'main: Pull the other lever',
      url: 'https://appveyor.example/project/railway/signals/builds/7001',
    },
  },
  {
    source: sources.dockerhub,
    event: 'push',
    repository: 'railway/signals',
    deliveryId: '1767225600 v2 railway/signals',
    score: 4,
    notice: { title: 'Docker Hub: railway/signals:v2 pushed', text: 'By stationmaster', url: 'https://hub.example/r/railway/signals' },
  },
  {
    source: sources.healthchecks,
    event: 'down',
    deliveryId: '6f1b7a4e-6f57-4d6f-a2a9-8d2b9a3b7c55 down 2026-01-05T03:30:00+00:00',
    score: 8,
    notice: { title: 'Nightly backup is down', text: 'Healthchecks, 2026-01-05T03:30:00+00:00', url: null },
  },
  {
    source: sources.uptimerobot,
    event: 'up',
    deliveryId: '77001 2 1767225660',
    score: 4,
    notice: { title: 'Signals is up', text: 'HTTP 200 - OK', url: 'https://signals.example/' },
  },
];

export type Sample = Expected & Source['example'];
export const samples: readonly Sample[] = expected.map((one) => ({ ...one, ...one.source.example }));
