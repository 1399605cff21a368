// The key of an application on a real node: kubelets give it to pods that read with it all the time, while the operator replaces it.
import { eventually } from '../../support/wait.ts';
import { type Installation, podsOf } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { applyAll, expectNoObjects, installOperator, object, removeOperator, untilReason, withoutOthers } from '../operator.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

const key = { name: 'reader-key', key: 'api-key' };

export const rotation: Scenario = {
  name: 'rotation',
  proves: 'a key is replaced while the pods of a Deployment read with it without a pause: no read is refused, and one key is left',
  async run(stage) {
    await expectNoObjects();
    const signalbox = await stage.prepare();
    stage.afterwards(() => removeOperator(signalbox));
    await install(signalbox, stage);
    const { kubectl } = signalbox;
    const spec = { applicationName: 'Reader', apiKeySecretRef: key, rotateEvery: '720h' };
    await applyAll(kubectl, object('SecretApplication', 'reader', spec));
    await step('a SecretApplication is in sync', () => untilReason(kubectl, 'secretapplication/reader', 'InSync'));
    await applyAll(kubectl, reader(`docker.io/library/signalbox:${stage.tags.first}`));
    await kubectl.run(['rollout', 'status', 'deployment/reader', '--timeout', '120s']);
    for (const which of ['first', 'second']) await replace(kubectl, which);
  },
};

async function install(signalbox: Installation, stage: Parameters<Scenario['run']>[0]): Promise<void> {
  const peer = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'signalbox-operator' } } };
  const off = { enabled: false };
  await signalbox.install({
    rabbitmq: off,
    services: { ...withoutOthers, 'webhook-relay': off, 'webhook-intake': off },
    networkPolicy: { operator: [peer] },
  });
  await installOperator(signalbox, stage, { secrets: { url: 'http://signalbox-secrets' } });
}

/** Two pods that read without a pause from their start until three seconds after SIGTERM. */
function reader(image: string): object {
  const script = `
    let isStopping = false;
    process.on('SIGTERM', () => setTimeout(() => (isStopping = true), 3000));
    const headers = { 'X-Api-Key': process.env.KEY };
    const url = 'http://signalbox-secrets/api/consumer/configurations?environment=local';
    const read = async () => {
      while (!isStopping) {
        await fetch(url, { headers }).then((answer) => answer.text(), () => undefined);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    read();`;
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  const labels = { app: 'reader', 'signalbox.dev/secrets': 'true' };
  const env = [{ name: 'KEY', valueFrom: { secretKeyRef: key } }];
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 10,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'reader', image, env, command: ['node', '-e', script], securityContext }],
  };
  const template = { metadata: { labels }, spec };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'reader' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'reader' } }, template },
  };
}

async function replace(kubectl: Kubectl, which: string): Promise<void> {
  const former = await kubectl.secret(key.name);
  const before = await readsBy(kubectl);
  await kubectl.run(['annotate', 'secret', key.name, 'signalbox.dev/rotated-at=2026-01-01T00:00:00Z', '--overwrite']);
  await step(`the key is replaced the ${which} time`, () =>
    eventually(
      async () => {
        const { metadata } = await kubectl.get<{ metadata: { annotations: Record<string, string> } }>(['secret', key.name]);
        if ((await kubectl.secret(key.name))[key.key] === former[key.key]) throw new Error('the Secret still has the former key');
        if (metadata.annotations['signalbox.dev/former-key'] !== undefined) throw new Error(`the former key is still valid: ${await statusOf(kubectl)}`);
      },
      { withinMs: 300_000, everyMs: 1000 },
    ),
  );
  await untilReason(kubectl, 'secretapplication/reader', 'InSync');
  const after = await readsBy(kubectl);
  const answered = (after.get('200') ?? 0) - (before.get('200') ?? 0);
  if (after.has('401') || answered < 1000) throw new Error(`reads by status: ${JSON.stringify([...after])}, before ${JSON.stringify([...before])}`);
  say(`  ${answered} reads were answered, and none was refused`);
}

const statusOf = (kubectl: Kubectl) => kubectl.run(['get', 'secretapplication', 'reader', '--output', 'jsonpath={.status}']);

/** Reads of configurations by status, as the service counts them. */
async function readsBy(kubectl: Kubectl): Promise<ReadonlyMap<string, number>> {
  const [pod] = await podsOf(kubectl, 'secrets', 1);
  const script = `fetch('http://127.0.0.1:9090/metrics').then((answer) => answer.text()).then((text) => process.stdout.write(text))`;
  const text = await kubectl.run(['exec', pod?.metadata.name ?? '', '--', 'node', '-e', script]);
  const counts = new Map<string, number>();
  for (const [line, status = '', count] of text.matchAll(/^signalbox_http_request_duration_seconds_count\{.*status="(\d+)".*\} (\d+)$/gm))
    if (line.includes('/api/consumer/')) counts.set(status, (counts.get(status) ?? 0) + Number(count));
  return counts;
}
