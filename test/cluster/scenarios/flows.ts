// NetworkPolicies and database roles, tried from within pods.
import type { Installation } from '../installation.ts';
import { createKubectl, type Kubectl, type Pod } from '../kubectl.ts';
import { expectExactlyOnce } from '../load.ts';
import { type Expected, expectReached, startIdlePod, statements } from '../probe.ts';
import { say, step } from '../say.ts';
import type { Scenario } from '../scenario.ts';

export const flows: Scenario = {
  name: 'flows',
  proves: 'with NetworkPolicies enforced what belongs together works; a relay pod reaches no other schema and no pod but its servers; strangers reach nothing',
  async run({ prepare, tags }) {
    const installation = await prepare();
    const { kubectl } = installation;
    await installation.install();
    await everythingWorks(installation);

    const pods = await byComponent(kubectl);
    await step('from a relay pod', () => expectReached(kubectl, pods.name('webhook-relay'), fromService(pods, 'webhook-relay', true)));
    await step('from a worker', () => expectReached(kubectl, pods.name('webhook-intake-service'), fromService(pods, 'webhook-intake-service', true)));
    await step('from the link digest', () => expectReached(kubectl, pods.name('link-digest'), fromService(pods, 'link-digest', true)));
    for (const name of ['secrets', 'bookmarks', 'listings']) {
      await step(`from ${name}`, () => expectReached(kubectl, pods.name(name), fromService(pods, name, false)));
    }
    await step('from Postgres and RabbitMQ: nothing', async () => {
      // Their images hold no Node: a shell's own connections do.
      for (const server of ['postgres', 'rabbitmq']) await expectSilence(kubectl, pods.name(server), pods.address('secrets', 8080));
    });
    const image = `docker.io/library/signalbox:${tags.first}`;
    await step('from a pod beside', () => fromStranger(kubectl, image, {}, fromOutside(pods, false)));
    await inAnotherNamespace(kubectl, async (outside) => {
      await step('from an application', () => fromStranger(outside, image, { 'signalbox.dev/secrets': 'true' }, fromOutside(pods, true)));
      await step('from a stranger', () => fromStranger(outside, image, {}, fromOutside(pods, false)));
    });
    await step('what a relay may ask of Postgres', () => expectOwnSchemaOnly(kubectl, pods.name('webhook-relay')));
  },
};

async function everythingWorks({ clients, helm }: Installation): Promise<void> {
  const forge = await clients();
  const { deliveryId } = await forge.deliver();
  await expectExactlyOnce(forge, [deliveryId]);
  await (await forge.createApplication('Flows')).read();
  await helm(['test', 'signalbox']);
}

type Pods = { name(component: string): string; address(component: string, port: number): string };

async function byComponent(kubectl: Kubectl): Promise<Pods> {
  const pods = await kubectl.pods();
  const find = (component: string): Pod => {
    const found = pods.find(({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component);
    if (!found) throw new Error(`there is no pod of ${component}`);
    return found;
  };
  return { name: (component) => find(component).metadata.name, address: (component, port) => `${find(component).status.podIP ?? ''}:${port}` };
}

const open: Readonly<Record<string, readonly number[]>> = {
  'webhook-relay': [8080, 9090],
  'webhook-intake': [8080, 9090],
  'link-digest': [8080, 9090],
  secrets: [8080, 9090],
  bookmarks: [8080, 9090],
  listings: [8080, 9090],
  'webhook-intake-service': [9090],
  'webhook-intake-database-service': [9090],
  postgres: [5432],
  rabbitmq: [5672, 15672, 15692, 4369],
};

/** Every port of every other pod, the API server, the node and the ingress. */
function fromService(pods: Pods, itself: string, usesBroker: boolean): Expected {
  const ports = Object.entries(open).flatMap(([component, all]) => (component === itself ? [] : all.map((port) => pods.address(component, port))));
  return {
    ...Object.fromEntries(ports.map((target) => [target, false])),
    'kubernetes.default.svc:443': false,
    [pods.address('postgres', 5432)]: true,
    'signalbox-postgres:5432': true,
    [pods.address('rabbitmq', 5672)]: usesBroker,
    'signalbox-rabbitmq:5672': usesBroker,
  };
}

const fromOutside = (pods: Pods, isApplication: boolean): Expected => ({
  ...Object.fromEntries(Object.entries(open).flatMap(([component, all]) => all.map((port) => [pods.address(component, port), false]))),
  [pods.address('secrets', 8080)]: isApplication,
});

async function fromStranger(kubectl: Kubectl, image: string, labels: Readonly<Record<string, string>>, expected: Expected): Promise<void> {
  const name = `stranger-${Object.keys(labels).length}`;
  await startIdlePod(kubectl, name, image, labels);
  // Nothing limits what it sends where it is in another namespace; beside the release it is under that one's default.
  await expectReached(kubectl, name, expected);
}

async function expectSilence(kubectl: Kubectl, pod: string, target: string): Promise<void> {
  const [host = '', port = ''] = target.split(':');
  const { code } = await kubectl.tryRun(['exec', pod, '--', 'timeout', '3', 'bash', '-c', `exec 3<>/dev/tcp/${host}/${port}`]);
  if (code === 0) throw new Error(`${pod} reaches ${target}`);
}

async function inAnotherNamespace(kubectl: Kubectl, work: (outside: Kubectl) => Promise<void>): Promise<void> {
  const outside = createKubectl(`${kubectl.namespace}-outside`);
  await outside.run(['create', 'namespace', outside.namespace]);
  try {
    await work(outside);
  } finally {
    await outside.run(['delete', 'namespace', outside.namespace, '--wait=false']);
  }
}

/** SQLSTATE 42501: insufficient privilege. */
async function expectOwnSchemaOnly(kubectl: Kubectl, pod: string): Promise<void> {
  const refused = [
    'select * from secrets.applications',
    'select * from digest.newsletters',
    'select * from bookmarks.bookmarks',
    'select * from listings.properties',
    'select * from intake.events',
    'create schema mine',
    'create table public.mine ()',
    'set role secrets',
    'set role postgres',
    'create temp table mine ()',
  ];
  const allowed = ['select * from relay.broker_usage', 'select 1'];
  const answers = await statements(kubectl, pod, [...refused, ...allowed]);
  say(`  ${JSON.stringify(answers)}`);
  const wrong = Object.entries(answers).filter(([sql, answer]) => answer !== (refused.includes(sql) ? '42501' : 'ok'));
  if (wrong.length > 0) throw new Error(`Postgres answers the relay: ${JSON.stringify(wrong)}`);
}
