// Two nodes under load: each is drained, then one dies.
import { merged, type Values } from '../../support/values.ts';
import { eventually } from '../../support/wait.ts';
import type { Clients } from '../clients.ts';
import { type Installation, podsOf, preset, services } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import { type Account, describeFailure, expectExactlyOnce, expectNoFailure, startLoad } from '../load.ts';
import { cluster, isLocal } from '../local-cluster.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';
import { installServers } from '../servers.ts';

const components = [...services, 'console', 'webhook-intake-service', 'webhook-intake-database-service'];
const perSecond = 5;
/** A label of the pods that a drain evicts: the servers stay, and so do pods of earlier scenarios. */
const drained = 'signalbox.dev/drained';

export const nodes: Scenario = {
  name: 'nodes',
  nodes: 2,
  proves:
    'values-ha.yaml has a pod of each component on either of two nodes; draining either fails no request, and each accepted delivery is in the event log once; a restart spreads the pods again; of a node that dies only requests to its pods fail, and no accepted delivery is lost or stored twice',
  async run(stage) {
    const installation = await stage.prepare();
    const { kubectl } = installation;
    const [home, other] = await nodeNames(kubectl);
    stage.afterwards(() => kubectl.run(['uncordon', home, other]));
    await install(installation, home);
    const clients = await installation.clients();
    const accepted: string[] = [];
    for (const node of [other, home]) accepted.push(...(await drain({ kubectl, clients, node })));
    await spreadAgain(kubectl);
    await expectExactlyOnce(clients, accepted);
    if (isLocal) {
      stage.afterwards(() => cluster('up', '--nodes', '2'));
      await loseNode({ kubectl, clients, node: other });
    } else say('no node is killed: only the cluster of this machine has a command for it');
  },
};

/** The servers run on the first, which stays. */
async function nodeNames(kubectl: Kubectl): Promise<[string, string]> {
  const { items } = await kubectl.get<{ items: readonly { metadata: { name: string } }[] }>(['nodes']);
  const [home, other] = items.map(({ metadata }) => metadata.name);
  if (home === undefined || other === undefined) throw new TypeError('two nodes have two names');
  return [home, other];
}

async function install(installation: Installation, home: string): Promise<void> {
  // Servers with nodes of their own share no processor with the pods that a drain starts; here their share of it is larger.
  const there: Values = { nodeSelector: { 'kubernetes.io/hostname': home }, resources: { requests: { cpu: '250m' } } };
  const servers = await installServers(installation, { postgres: there, rabbitmq: there });
  const apps: Values = { commonLabels: { [drained]: 'yes' }, defaults: { resources: { requests: { cpu: '20m' } } } };
  await installation.install(merged(await preset('values-ha.yaml'), servers, apps));
  await step('a pod of each component is on either node', () => expectSpread(installation.kubectl));
}

async function expectSpread(kubectl: Kubectl): Promise<void> {
  for (const name of components) {
    const pods = await podsOf(kubectl, name, 2);
    const [first, second] = pods.map(({ spec }) => spec.nodeName);
    if (first === second) throw new Error(`both pods of ${name} are on node ${first}`);
  }
}

/** After a drain all pods are on one node: Kubernetes moves no running pod. */
const spreadAgain = (kubectl: Kubectl) =>
  step('kubectl rollout restart: a pod of each component is on either node again', async () => {
    await kubectl.run(['rollout', 'restart', 'deployment', '--selector', 'app.kubernetes.io/instance=signalbox']);
    for (const name of components) await kubectl.run(['rollout', 'status', `deployment/signalbox-${name}`, '--timeout', '300s']);
    await expectSpread(kubectl);
  });

type Drain = { readonly kubectl: Kubectl; readonly clients: Clients; readonly node: string };

/** @returns the ids of the deliveries that were accepted; throws when one request failed */
async function drain({ kubectl, clients, node }: Drain): Promise<string[]> {
  const load = startLoad({ clients, secret: await clients.createApplication(`Drain ${node}`), perSecond });
  const draining = step(`kubectl drain ${node}, without the servers`, async () => {
    const ours = ['--pod-selector', `${drained}=yes`];
    await kubectl.run(['drain', node, ...ours, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout', '280s']);
    for (const name of components) {
      const pods = await podsOf(kubectl, name, 2);
      if (pods.some(({ spec }) => spec.nodeName === node)) throw new Error(`a pod of ${name} is on ${node}, which is drained`);
    }
  });
  const [ended] = await Promise.allSettled([draining]);
  await kubectl.run(['uncordon', node]);
  const account = await load.stop();
  if (ended.status === 'rejected') throw new Error(`${node} could not be drained`, { cause: ended.reason });
  expectNoFailure(account);
  return acceptedOf(account);
}

/** Without a word: its link is cut, and nothing of it ends in order. */
async function loseNode({ kubectl, clients, node }: Drain): Promise<void> {
  const secret = await clients.createApplication(`Loss of ${node}`);
  const unnoticed = startLoad({ clients, secret, perSecond });
  const isDead = step(`cluster kill ${node}: Kubernetes notices`, async () => {
    await cluster('kill', node);
    await kubectl.run(['wait', `node/${node}`, '--for', 'condition=Ready=Unknown', '--timeout', '120s']);
    await step('no pod of it gets requests', () => noEndpointsOn(kubectl, node));
  });
  const [ended] = await Promise.allSettled([isDead]);
  const before = await unnoticed.stop();
  if (ended.status === 'rejected') throw ended.reason;
  expectOnlyLostPods(before);
  const noticed = startLoad({ clients, secret, perSecond });
  await step('what it had in hand is stored', () => expectExactlyOnce(clients, acceptedOf(before)));
  await step(`cluster up: a pod of each component is on either node again`, async () => {
    await cluster('up', '--nodes', '2');
    await expectSpread(kubectl);
  });
  const after = await noticed.stop();
  expectNoFailure(after);
  await expectExactlyOnce(clients, [...acceptedOf(before), ...acceptedOf(after)]);
}

const acceptedOf = ({ deliveries }: Account) => deliveries.filter(({ status }) => status === 202).map(({ deliveryId }) => deliveryId);

type Slices = {
  readonly items: readonly { readonly endpoints?: readonly { readonly nodeName?: string; readonly conditions: { readonly ready?: boolean } }[] }[];
};

const noEndpointsOn = (kubectl: Kubectl, node: string) =>
  eventually(
    async () => {
      const { items } = await kubectl.get<Slices>(['endpointslices']);
      const left = items.flatMap(({ endpoints = [] }) => endpoints.filter(({ nodeName, conditions }) => nodeName === node && conditions.ready === true));
      if (left.length > 0) throw new Error(`${left.length} endpoints on ${node} get requests`);
    },
    { withinMs: 60_000, everyMs: 500 },
  );

/** The ingress cannot reach a pod of the dead node, or the request waits for it; a lookup that asks the dead node's CoreDNS is a 503. */
function expectOnlyLostPods({ deliveries, reads, failures }: Account): void {
  const accepted = deliveries.filter(({ status }) => status === 202).length;
  say(`  ${accepted} of ${deliveries.length} deliveries were accepted; of ${deliveries.length + reads} requests ${failures.length} failed`);
  if (accepted === 0) throw new Error('no delivery was accepted');
  const others = failures.filter(({ reason }) => !/\b50[234]\b|timeout|aborted/.test(reason));
  if (others.length > 0) throw new Error(`${others.length} requests failed otherwise:\n  ${others.slice(0, 20).map(describeFailure).join('\n  ')}`);
}
