// ServiceAccounts on a real node: the kubelet gives a pod its token, the API server knows whether the account is still there, and there is no key anywhere.
import { eventually } from '../../support/wait.ts';
import type { Installation } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { applyAll, expectNoObjects, installOperator, object, removeOperator, untilReason, withoutOthers } from '../operator.ts';
import { say, step } from '../say.ts';
import type { Scenario, Stage } from '../scenario.ts';

const tokenFile = '/var/run/secrets/signalbox/token';
const greeting = 'read without a key';

export const accounts: Scenario = {
  name: 'accounts',
  proves:
    'a pod reads with the token that the kubelet gives it, by HTTP and by `secrets run`; neither the namespace nor the service has a key; another account is refused, and this one once it is deleted',
  async run(stage) {
    await expectNoObjects();
    const signalbox = await stage.prepare();
    stage.afterwards(() => removeOperator(signalbox));
    await install(signalbox, stage);
    const { kubectl } = signalbox;
    const secrets = async () => (await kubectl.run(['get', 'secrets', '--output', 'name'])).trim().split('\n');
    const before = await secrets();
    const configuration = [{ environment: 'local', key: 'Greeting', value: greeting }];
    await applyAll(
      kubectl,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader' } },
      object('SecretApplication', 'reader', { applicationName: 'Reader', serviceAccounts: ['reader'], configuration }),
      reader(`docker.io/library/signalbox:${stage.tags.first}`),
    );
    await step('a SecretApplication without apiKeySecretRef is in sync', () => untilReason(kubectl, 'secretapplication/reader', 'InSync'));
    await kubectl.run(['rollout', 'status', 'deployment/reader', '--timeout', '120s']);

    await step('the pod reads with its token', () => eventually(async () => expectRead(await read(kubectl)), { withinMs: 30_000, everyMs: 1000 }));
    const run = ['secrets', 'run', '--environment', 'local', '--', 'printenv', 'Greeting'];
    const printed = await step('`secrets run` reads with it', () => kubectl.run(['exec', 'deployment/reader', '--', 'signalbox', ...run]));
    if (printed.trim() !== greeting) throw new Error(`secrets run printed ${printed}`);
    const other = (await kubectl.run(['create', 'token', 'default', '--audience', 'signalbox-secrets'])).trim();
    const refused = await read(kubectl, other);
    if (!refused.startsWith('401 ')) throw new Error(`the token of another account is answered ${refused}`);

    const clients = await signalbox.clients(['secrets']);
    const keys = JSON.stringify(await clients.manageSecrets('/applications/reader/keys'));
    if (keys !== '{"items":[]}') throw new Error(`the application has keys: ${keys}`);
    const after = await secrets();
    if (after.join() !== before.join()) throw new Error(`Secrets were made: ${after.filter((name) => !before.includes(name)).join(', ')}`);
    say('  the application has no key, and the operator has made no Secret');

    await kubectl.run(['delete', 'serviceaccount', 'reader']);
    await step('the account is deleted: its token is refused', () =>
      eventually(
        async () => {
          const answer = await read(kubectl);
          if (!answer.startsWith('401 ')) throw new Error(`it is answered ${answer}`);
        },
        { withinMs: 60_000, everyMs: 1000 },
      ),
    );
  },
};

async function install(signalbox: Installation, stage: Stage): Promise<void> {
  const peer = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'signalbox-operator' } } };
  const off = { enabled: false };
  await signalbox.install({
    rabbitmq: off,
    services: { ...withoutOthers, 'webhook-relay': off, 'webhook-intake': off, secrets: { settings: { Secrets__ServiceAccounts: 'on' } } },
    networkPolicy: { operator: [peer] },
  });
  await installOperator(signalbox, stage, { secrets: { url: 'http://signalbox-secrets', serviceAccounts: true } });
}

/** As docs/applications.md has it. */
function reader(image: string): object {
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  const env = [
    { name: 'SIGNALBOX_SECRETS_URL', value: 'http://signalbox-secrets' },
    { name: 'SIGNALBOX_APPLICATION_KEY_FILE', value: tokenFile },
  ];
  const volumeMounts = [{ name: 'signalbox', mountPath: '/var/run/secrets/signalbox', readOnly: true }];
  const token = { serviceAccountToken: { path: 'token', audience: 'signalbox-secrets', expirationSeconds: 3600 } };
  const spec = {
    serviceAccountName: 'reader',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'reader', image, env, volumeMounts, command: ['node', '-e', 'setInterval(() => {}, 1e6)'], securityContext }],
    volumes: [{ name: 'signalbox', projected: { sources: [token] } }],
  };
  const template = { metadata: { labels: { app: 'reader', 'signalbox.dev/secrets': 'true' } }, spec };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'reader' }, spec: { selector: { matchLabels: { app: 'reader' } }, template } };
}

/** From within the pod, as `200 {…}`. @param token default: that of the pod's file */
function read(kubectl: Kubectl, token?: string): Promise<string> {
  const credential = token === undefined ? `require('node:fs').readFileSync('${tokenFile}', 'utf8')` : JSON.stringify(token);
  const script = `
    const headers = { Authorization: 'Bearer ' + ${credential} };
    fetch('http://signalbox-secrets/api/consumer/configurations/Greeting?environment=local', { headers })
      .then(async (answer) => process.stdout.write(answer.status + ' ' + (await answer.text())));`;
  return kubectl.run(['exec', 'deployment/reader', '--', 'node', '-e', script]);
}

function expectRead(answer: string): void {
  if (!answer.startsWith('200 ') || !answer.includes(greeting)) throw new Error(`it is answered ${answer}`);
}
