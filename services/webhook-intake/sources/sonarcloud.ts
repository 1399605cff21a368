// SonarQube Cloud: the quality gate of an analysed project. https://docs.sonarsource.com/sonarqube-cloud/advanced-setup/webhooks/
import { lineAt, signature, type Source, urlAt } from './source.ts';

/** An analysis that failed has no quality gate. */
const gate = (payload: unknown) => lineAt(payload, 'qualityGate', 'status') ?? lineAt(payload, 'status');

export const sonarcloud: Source = {
  name: 'sonarcloud',
  vendor: 'SonarQube Cloud',
  verification: signature('X-Sonar-Webhook-HMAC-SHA256'),
  example: {
    body: {
      serverUrl: 'https://sonar.example',
      taskId: 'AZ1-signals',
      status: 'SUCCESS',
      analysedAt: '2026-01-05T08:00:00+0000',
      project: { key: 'railway_signals', name: 'Signals', url: 'https://sonar.example/dashboard?id=railway_signals' },
      branch: { name: 'main', type: 'BRANCH', isMain: true, url: 'https://sonar.example/dashboard?id=railway_signals&branch=main' },
      qualityGate: { name: 'House gate', status: 'ERROR', conditions: [{ metric: 'new_coverage', operator: 'LESS_THAN', status: 'ERROR' }] },
    },
  },
  read({ payload }) {
    const taskId = lineAt(payload, 'taskId');
    // A gate that changes because an issue was marked comes without an analysis, and so without a task.
    const change = [lineAt(payload, 'project', 'key'), lineAt(payload, 'branch', 'name'), lineAt(payload, 'changedAt')];
    return { event: gate(payload), key: taskId === undefined ? change : [taskId], isFailure: /^(ERROR|FAILED)$/.test(gate(payload) ?? '') };
  },
  notice: (payload) => ({
    title: `Quality gate ${gate(payload) ?? 'unknown'}: ${lineAt(payload, 'project', 'name') ?? lineAt(payload, 'project', 'key') ?? 'a project'}`,
    text: `Branch ${lineAt(payload, 'branch', 'name') ?? 'unknown'}, analysed ${lineAt(payload, 'analysedAt') ?? 'at an unknown time'}`,
    url: urlAt(payload, 'branch', 'url') ?? urlAt(payload, 'project', 'url'),
  }),
};
