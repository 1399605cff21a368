// The operator on a real node: kubelets that bring changed Secrets, workloads that roll, policies that are enforced, a leader that dies.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionList } from '../../../services/webhook-relay/contract.ts';
import { eventually } from '../../support/wait.ts';
import type { Clients } from '../clients.ts';
import { component, type Installation, podsOf } from '../installation.ts';
import { allReady, type Kubectl, type Pod } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import {
  applyAll,
  brokersSecret,
  deleteNamespace,
  expectNoObjects,
  installOperator,
  object,
  operatorPods,
  operatorRelease,
  removeOperator,
  secretOf,
  untilReason,
  withoutOthers,
} from '../operator.ts';
import { expectReached } from '../probe.ts';
import { say, seconds, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';
import { createVirtualHosts, deliverOn, depths, expectEmpty, urlOf } from '../virtual-hosts.ts';

const second = 'BROKER_URL_2';
const limit = 1000;
const workers = ['webhook-intake-service', 'webhook-intake-database-service'];

export const operator: Scenario = {
  name: 'operator',
  proves:
    'every relay follows a BrokerConnection without a restart, and what a deleted one holds is worked through; a changed secret is in its Secret within seconds and rolls its workload once, also after the leader was killed; nothing is written while nothing changes; the operator reaches the relay, the secrets service and the API server, and nothing else; the namespace goes with its objects',
  async run(stage) {
    await expectNoObjects();
    const signalbox = await stage.prepare();
    const outside = await stage.prepare();
    stage.afterwards(() => removeOperator(outside));
    const { kubectl } = signalbox;
    const peer = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': outside.kubectl.namespace } },
      podSelector: { matchLabels: operatorPods },
    };
    const file = { environmentFileSecret: brokersSecret };
    await signalbox.install({
      services: { ...withoutOthers, 'webhook-relay': { ...file, replicas: 2 }, 'webhook-intake': file },
      networkPolicy: { operator: [peer] },
    });
    await createVirtualHosts(kubectl, ['two']);
    const { Management__AdminApiKey: token = '' } = await signalbox.credentials();
    await applyAll(outside.kubectl, secretOf('administrator', { token }));
    await installOperator(outside, stage, {
      replicas: 2,
      secrets: { url: `http://signalbox-secrets.${kubectl.namespace}`, existingSecret: 'administrator', existingSecretKey: 'token' },
    });
    const clients = await signalbox.clients(['relay', 'intake', 'secrets']);

    const delivered = await connect(kubectl, clients);
    await disconnect(kubectl, clients, delivered);
    const shop = await synchronize(kubectl, clients, `docker.io/library/signalbox:${stage.tags.first}`);
    await handOver(outside, shop);
    await expectSettled(kubectl);
    await expectFlows(signalbox, outside);
    await expectOneLeader(outside.kubectl);
    await deleteNamespace(kubectl);
    await expectOneLeader(outside.kubectl);
  },
};

/** @returns the ids of what was delivered */
async function connect(kubectl: Kubectl, clients: Clients): Promise<string[]> {
  const relays = await podsOf(kubectl, 'webhook-relay', 2);
  await applyAll(kubectl, secretOf('brokers', { two: urlOf('two') }));
  const connection = object('BrokerConnection', 'second', { position: 2, urlSecretRef: { name: 'brokers', key: 'two' }, monthlyLimit: limit });
  await step('a BrokerConnection is applied: every relay uses it', async () => {
    await applyAll(kubectl, connection);
    await untilReason(kubectl, 'brokerconnection/second', 'InUse');
  });
  for (const relay of relays) {
    const found = await connectionOf(kubectl, relay);
    if (found?.isConnected !== true || found.monthlyLimit !== limit) throw new Error(`${relay.metadata.name} says of it ${JSON.stringify(found)}`);
  }
  const delivered = [await deliverOn(clients, 2), await deliverOn(clients, 2)];
  await expectExactlyOnce(clients, delivered);
  await step('kubectl get brokerconnections', async () => {
    const text = await eventually(() => expectShown(kubectl), { withinMs: 120_000, everyMs: 1000 });
    say(`  ${text.trim().replaceAll('\n', '\n             ')}`);
  });
  expectSame(relays, await podsOf(kubectl, 'webhook-relay', 2));
  return delivered;
}

/** Checks that the printed columns add up. */
async function expectShown(kubectl: Kubectl): Promise<string> {
  const text = await kubectl.run(['get', 'brokerconnections']);
  const [heads, cells] = text
    .trim()
    .split('\n')
    .map((line) => line.split(/\s{2,}/));
  const shown = Object.fromEntries((heads ?? []).map((head, index) => [head, cells?.[index]]));
  const used = Number(shown['USED']);
  const isRight = shown['ACTIVE'] === 'true' && used > 0 && Number(shown['LIMIT']) === limit && Number(shown['REMAINING']) === limit - used;
  if (!isRight || shown['READY'] !== 'True') throw new Error(text);
  return text;
}

async function disconnect(kubectl: Kubectl, clients: Clients, delivered: string[]): Promise<void> {
  const relays = await podsOf(kubectl, 'webhook-relay', 2);
  await scaleWorkers(kubectl, 0);
  for (let count = 10; count > 0; count--) delivered.push(await deliverOn(clients, 2));
  await step('the BrokerConnection is deleted while its queues hold messages', () => kubectl.run(['delete', 'brokerconnection', 'second', '--timeout', '30s']));
  await step('every relay has it with limit 0', () =>
    eventually(
      async () => {
        for (const relay of relays) {
          const found = await connectionOf(kubectl, relay);
          if (found?.monthlyLimit !== 0) throw new Error(`${relay.metadata.name} says of it ${JSON.stringify(found)}`);
        }
      },
      { withinMs: 90_000, everyMs: 500 },
    ),
  );
  const { deliveryId, status, body } = await clients.deliver();
  if (status !== 202 || !body.includes('"broker":"BROKER_URL_1"')) throw new Error(`the relay answers ${status}: ${body}`);
  delivered.push(deliveryId);
  const left = await depths(kubectl, 'two');
  if ((left.get('forge') ?? 0) < 10) throw new Error(`on the second connection there are ${JSON.stringify([...left])}`);
  if (!(await kubectl.secret(brokersSecret))['brokers.env']?.includes(second)) throw new Error('it left the file with messages in its queues');
  await scaleWorkers(kubectl, 1);
  await step('the workers empty its queues', () => expectExactlyOnce(clients, delivered));
  await step('it leaves the file and the relays', () =>
    eventually(
      async () => {
        if ((await kubectl.secret(brokersSecret))['brokers.env']?.includes(second)) throw new Error(`${second} is still in the file`);
        for (const relay of relays) if (await connectionOf(kubectl, relay)) throw new Error(`${relay.metadata.name} still has ${second}`);
      },
      { withinMs: 180_000, everyMs: 1000 },
    ),
  );
  await expectEmpty(kubectl, 'two');
  expectSame(relays, await podsOf(kubectl, 'webhook-relay', 2));
}

type Shop = { change(what: string): Promise<void> };

/** An application whose workload is rolled when a value changes. */
async function synchronize(kubectl: Kubectl, clients: Clients, image: string): Promise<Shop> {
  const environment = 'production';
  const password = randomUUID();
  await applyAll(
    kubectl,
    secretOf('shop-db', { password }),
    idleDeployment('shop', image),
    object('SecretApplication', 'shop', {
      applicationName: 'Shop',
      environments: ['Production'],
      secretValues: [{ environment, secret: 'password', valueFrom: { secretKeyRef: { name: 'shop-db', key: 'password' } } }],
      apiKeySecretRef: { name: 'shop-api-key', key: 'api-key' },
    }),
  );
  await step('a SecretApplication is in sync', () => untilReason(kubectl, 'secretapplication/shop', 'InSync'));
  const { 'api-key': key = '' } = await kubectl.secret('shop-api-key');
  if ((await clients.readSecret({ key, name: 'password', environment })) !== password)
    throw new Error('with the key that was written another password is read');
  await clients.manageSecrets('/applications/shop/secrets', { name: 'token' });
  const setToken = async () => {
    const value = randomUUID();
    await clients.manageSecrets('/applications/shop/secrets/token/values', [{ environmentSlug: environment, value }]);
    return value;
  };
  const token = await setToken();
  const target = async () => JSON.stringify(await kubectl.secret('shop'));
  const isTarget = (expected: object) => eventually(async () => (await target()) === JSON.stringify(expected), { withinMs: 60_000, everyMs: 50 });
  const data = ['PASSWORD', 'TOKEN'].map((name) => ({ key: name, secret: name.toLowerCase() }));
  await applyAll(
    kubectl,
    object('SyncedSecret', 'shop', { applicationRef: { name: 'shop' }, environment, data, rollout: [{ kind: 'Deployment', name: 'shop' }] }),
  );
  await step('a SyncedSecret is synced', () => untilReason(kubectl, 'syncedsecret/shop', 'Synced'));
  await isTarget({ PASSWORD: password, TOKEN: token });
  let rollouts = 0;
  await expectRolled(kubectl, rollouts);

  const change = async (what: string) => {
    const value = await setToken();
    const begun = performance.now();
    await isTarget({ PASSWORD: password, TOKEN: value });
    say(`${what}, in its Secret after ${seconds(performance.now() - begun)}`);
    // Each looks for one rollout too many of the change before, too.
    await expectRolled(kubectl, ++rollouts);
  };
  for (const which of ['first', 'second', 'third']) await change(`the ${which} change of a value`);
  return { change };
}

function idleDeployment(name: string, image: string): object {
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  const labels = { app: name };
  const spec = {
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'idle', image, command: ['node', '-e', 'setInterval(() => {}, 1e6)'], securityContext }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { replicas: 1, revisionHistoryLimit: 10, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

/** So many times since it was created: a rollout makes a ReplicaSet. */
async function expectRolled(kubectl: Kubectl, times: number): Promise<void> {
  await eventually(
    async () => {
      const { items } = await kubectl.get<{ items: readonly unknown[] }>(['replicasets', '--selector', 'app=shop']);
      if (items.length !== times + 1) throw new Error(`the workload was rolled ${items.length - 1} times, and not ${times}`);
    },
    { withinMs: 60_000, everyMs: 500 },
  );
  await kubectl.run(['rollout', 'status', 'deployment/shop', '--timeout', '90s']);
}

/** Neither replaced nor started again. */
function expectSame(before: readonly Pod[], after: readonly Pod[]): void {
  const starts = (pods: readonly Pod[]) =>
    pods.map(({ metadata, status }) => `${metadata.name} ${(status.containerStatuses ?? []).map(({ restartCount }) => restartCount).join()}`).sort();
  if (starts(before).join() !== starts(after).join()) throw new Error(`the relays were ${starts(before).join(', ')}, and are ${starts(after).join(', ')}`);
}

const scaleWorkers = (kubectl: Kubectl, replicas: number) =>
  step(`workers: ${replicas} of each`, async () => {
    await kubectl.run(['scale', 'deployment', ...workers.map((name) => `signalbox-${name}`), '--replicas', String(replicas)]);
    if (replicas > 0) await Promise.all(workers.map((name) => podsOf(kubectl, name, replicas)));
    // A terminating worker may still take a message.
    else for (const name of workers) await kubectl.run(['wait', 'pod', '--selector', component(name), '--for', 'delete', '--timeout', '120s']);
  });

/** Asks a relay, within its pod, for its second connection. */
async function connectionOf(kubectl: Kubectl, { metadata: { name } }: Pod): Promise<ConnectionList['connections'][number] | undefined> {
  const script = `
    const headers = { authorization: 'Bearer ' + process.env.Broker__AuthToken.split(',')[0] };
    fetch('http://127.0.0.1:8080/Broker/connections', { headers }).then((answer) => answer.text()).then((text) => process.stdout.write(text));`;
  const { connections } = JSON.parse(await kubectl.run(['exec', name, '--', 'node', '-e', script])) as ConnectionList;
  return connections.find((connection) => connection.name === second);
}

const leaderOf = async (kubectl: Kubectl): Promise<string> => {
  const { spec } = await kubectl.get<{ spec: { holderIdentity?: string } }>(['lease', operatorRelease]);
  if (!spec.holderIdentity) throw new Error('the Lease has no holder');
  return spec.holderIdentity;
};

async function handOver({ kubectl }: Installation, shop: Shop): Promise<void> {
  const before = await leaderOf(kubectl);
  const [pod = ''] = before.split('_');
  await step(`the leader is killed: ${pod}`, async () => {
    await kill(kubectl, pod);
    const after = await eventually(
      async () => {
        const found = await leaderOf(kubectl);
        return found !== before && found;
      },
      { withinMs: 60_000, everyMs: 200 },
    );
    say(`  ${after.split('_')[0] ?? ''} leads`);
  });
  await shop.change('a change under the new leader');
  await allReady(kubectl, 'app.kubernetes.io/component=operator', 2);
}

/**
 * At once, so that it gives nothing back. The first process of a container obeys no signal to kill it that comes from within, and no two
 * clusters let one in from without alike: its debugger is asked.
 */
async function kill(kubectl: Kubectl, pod: string): Promise<void> {
  const script = `
    process.kill(1, 'SIGUSR1');
    const find = async () => {
      for (;;) {
        const [target] = await fetch('http://127.0.0.1:9229/json/list').then((answer) => answer.json()).catch(() => []);
        if (target) return target.webSocketDebuggerUrl;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    find().then((url) => {
      const socket = new WebSocket(url);
      socket.onopen = () => {
        // Later: a process whose debugger is attached waits for it to go, until its liveness probe fails.
        const expression = 'setTimeout(() => process.reallyExit(137), 500)';
        socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }));
        socket.onmessage = () => socket.close();
      };
    });`;
  // It may go down with the container that it runs in.
  const { code, stderr } = await kubectl.tryRun(['exec', pod, '--', 'node', '-e', script], { withinMs: 60_000 });
  const restarted = async () => {
    const { status } = await kubectl.get<Pod>(['pod', pod]);
    if ((status.containerStatuses?.[0]?.restartCount ?? 0) === 0) throw new Error(`${pod} still runs; what asked its debugger ended with ${code}: ${stderr}`);
  };
  await eventually(restarted, { withinMs: 30_000, everyMs: 200 });
}

const settledMs = 5 * 60_000;

/** Longer than a refresh interval. */
async function expectSettled(kubectl: Kubectl): Promise<void> {
  type List = { readonly items: readonly { kind: string; metadata: { name: string; resourceVersion: string } }[] };
  const versions = async () => {
    const { items } = await kubectl.get<List>(['signalbox,secrets']);
    return items.map(({ kind, metadata }) => `${kind}/${metadata.name} ${metadata.resourceVersion}`).sort();
  };
  const before = await versions();
  await step(`${settledMs / 60_000} minutes without a change: ${before.length} objects stay as they are`, () => pause(settledMs));
  const after = await versions();
  if (after.join() !== before.join()) throw new Error(`written without a change: ${after.filter((one) => !before.includes(one)).join(', ')}`);
}

async function expectFlows({ kubectl }: Installation, outside: Installation): Promise<void> {
  const [leader = ''] = (await leaderOf(outside.kubectl)).split('_');
  const pods = await kubectl.pods();
  const address = (name: string, port: number) => {
    const found = pods.find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === name);
    if (!found?.status.podIP) throw new Error(`there is no pod of ${name}`);
    return `${found.status.podIP}:${port}`;
  };
  await step('from the operator', () =>
    expectReached(outside.kubectl, leader, {
      [address('webhook-relay', 8080)]: true,
      [address('webhook-relay', 9090)]: true,
      [address('secrets', 8080)]: true,
      [`signalbox-secrets.${kubectl.namespace}:80`]: true,
      'kubernetes.default.svc:443': true,
      [address('secrets', 9090)]: false,
      [address('webhook-intake', 8080)]: false,
      [address('webhook-intake', 9090)]: false,
      [address('webhook-intake-service', 9090)]: false,
      [address('postgres', 5432)]: false,
      [address('rabbitmq', 5672)]: false,
      [address('rabbitmq', 15672)]: false,
    }),
  );
  const [shop] = await kubectl.pods('app=shop');
  const [operatorPod] = await outside.kubectl.pods('app.kubernetes.io/component=operator');
  await step('from a pod that is no operator', () =>
    expectReached(kubectl, shop?.metadata.name ?? '', {
      [address('webhook-relay', 8080)]: false,
      [address('webhook-relay', 9090)]: false,
      [address('secrets', 8080)]: false,
      [`${operatorPod?.status.podIP ?? ''}:9090`]: false,
    }),
  );
}

async function expectOneLeader(kubectl: Kubectl): Promise<void> {
  const script = `fetch('http://127.0.0.1:9090/metrics').then((answer) => answer.text()).then((text) => process.stdout.write(text))`;
  const pods = await allReady(kubectl, 'app.kubernetes.io/component=operator', 2);
  const texts = await Promise.all(pods.map(({ metadata }) => kubectl.run(['exec', metadata.name, '--', 'node', '-e', script])));
  const leading = texts.map((text) => /^signalbox_operator_leader (\d)$/m.exec(text)?.[1]).sort();
  if (leading.join() !== '0,1') throw new Error(`leaders: ${leading.join(' and ')}`);
}
