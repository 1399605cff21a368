// Nothing of the operator keeps a namespace from going, whatever goes first.
import { eventually } from '../../support/wait.ts';
import type { Installation } from '../installation.ts';
import type { Kubectl } from '../kubectl.ts';
import {
  applyAll,
  brokersSecret,
  deleteDefinitions,
  deleteNamespace,
  expectNoObjects,
  installOperator,
  object,
  operatorPods,
  operatorRelease,
  removeOperator,
  secretOf,
  untilReason,
  withinS,
  withoutOthers,
} from '../operator.ts';
import { say, step } from '../say.ts';
import type { Scenario, Stage } from '../scenario.ts';

type Room = {
  readonly installation: Installation;
  readonly stage: Stage;
};

/** Each begins with all of it in one namespace, every object reconciled, a connection draining, and ends with the namespace. */
const orders: Readonly<Record<string, (room: Room) => Promise<void>>> = {
  'the operator, then objects': async ({ installation: { kubectl, helm, uninstall } }) => {
    await uninstallOperator(helm);
    await deleteObjects(kubectl);
    await uninstall();
  },
  'objects, then the operator': async ({ installation: { kubectl, helm, uninstall } }) => {
    await deleteObjects(kubectl);
    await uninstallOperator(helm);
    await uninstall();
  },
  'the definitions under a running operator': async ({ installation: { kubectl, helm } }) => {
    await step('kubectl delete crd', () => deleteDefinitions(kubectl));
    await expectNoRestart(kubectl);
    await uninstallOperator(helm);
  },
  'Signalbox, then the operator, with the objects in place': async ({ installation: { helm, uninstall } }) => {
    await uninstall();
    await uninstallOperator(helm);
  },
  'the operator, and again: the objects are kept': async ({ installation, stage }) => {
    const { kubectl, helm } = installation;
    await uninstallOperator(helm);
    await applyAll(kubectl, application('changed while it was away'));
    await installOperator(installation, stage, operatorValues(kubectl));
    await step('what was changed meanwhile is found', () =>
      eventually(
        async () => {
          type Application = { metadata: { generation: number }; status: { observedGeneration?: number } };
          const { metadata, status } = await kubectl.get<Application>(['secretapplication', 'shop']);
          return status.observedGeneration === metadata.generation;
        },
        { withinMs: 90_000, everyMs: 500 },
      ),
    );
    await untilReason(kubectl, 'secretapplication/shop', 'InSync');
    await untilReason(kubectl, 'syncedsecret/shop', 'Synced');
  },
  'the namespace with all that is in it': () => Promise.resolve(),
};

export const operatorRemoval: Scenario = {
  name: 'operator-removal',
  proves: `a namespace is gone within ${withinS} s of its deletion in whatever order charts, objects and definitions went before it, or with all of them in it`,
  async run(stage) {
    await expectNoObjects();
    for (const [order, remove] of Object.entries(orders)) {
      say(`order: ${order}`);
      const installation = await stage.prepare();
      stage.afterwards(() => removeOperator(installation));
      await fill(installation, stage);
      await remove({ installation, stage });
      await deleteNamespace(installation.kubectl);
      await expectNoObjects();
    }
  },
};

const operatorValues = ({ namespace }: Kubectl) => ({ watchNamespace: namespace, secrets: { url: 'http://signalbox-secrets' } });

const application = (description: string) =>
  object('SecretApplication', 'shop', {
    applicationName: 'Shop',
    description,
    environments: ['Production'],
    configuration: [{ environment: 'production', key: 'Http:Timeout', value: '30' }],
    apiKeySecretRef: { name: 'shop-api-key', key: 'api-key' },
    deletionPolicy: 'Delete',
  });

const connection = (name: string, position: number) =>
  object('BrokerConnection', name, { position, urlSecretRef: { name: 'brokers', key: 'away' }, monthlyLimit: 1000 });

/** Adds a broker that does not answer, so that no one can know whether a deleted connection is empty. */
async function fill(installation: Installation, stage: Stage): Promise<void> {
  const { kubectl } = installation;
  await installation.install({
    services: { ...withoutOthers, 'webhook-intake': { enabled: false }, 'webhook-relay': { environmentFileSecret: brokersSecret } },
    rabbitmq: { enabled: false },
    networkPolicy: { operator: [{ podSelector: { matchLabels: operatorPods } }] },
  });
  await installOperator(installation, stage, operatorValues(kubectl));
  await step('an object of each kind, and a connection that drains', async () => {
    const data = [{ key: 'TIMEOUT', configuration: 'Http:Timeout' }];
    await applyAll(
      kubectl,
      secretOf('brokers', { away: 'amqp://user:password@127.0.0.1:5672' }),
      connection('stays', 98),
      connection('drains', 99),
      application('all'),
      object('SyncedSecret', 'shop', { applicationRef: { name: 'shop' }, environment: 'production', data }),
    );
    await untilReason(kubectl, 'brokerconnection/stays', 'NotConnected');
    await untilReason(kubectl, 'brokerconnection/drains', 'NotConnected');
    await untilReason(kubectl, 'secretapplication/shop', 'InSync');
    await untilReason(kubectl, 'syncedsecret/shop', 'Synced');
    // A connection that nothing was ever published to leaves at once.
    const used = `insert into relay.broker_usage (broker, period, message_count, monthly_limit, limit_source) values ('BROKER_URL_99', '2026-01', 1, 1000, 'environment')`;
    await kubectl.run(['exec', 'service/signalbox-webhook-relay', '--', 'signalbox', 'sql', '--write', used]);
    await kubectl.run(['delete', 'brokerconnection', 'drains', '--timeout', '30s']);
    await eventually(
      async () => {
        const { metadata } = await kubectl.get<{ metadata: { annotations?: Record<string, string> } }>(['secret', brokersSecret]);
        return metadata.annotations?.['signalbox.dev/draining']?.includes('99') ?? false;
      },
      { withinMs: 60_000, everyMs: 500 },
    );
  });
}

const uninstallOperator = (helm: Installation['helm']) =>
  step(`helm uninstall ${operatorRelease}`, () => helm(['uninstall', operatorRelease, '--wait', '--timeout', `${withinS}s`]));

const deleteObjects = (kubectl: Kubectl) =>
  step('kubectl delete of the objects', () =>
    kubectl.run(['delete', 'brokerconnections,secretapplications,syncedsecrets', '--all', '--timeout', `${withinS}s`]),
  );

async function expectNoRestart(kubectl: Kubectl): Promise<void> {
  const pods = await kubectl.pods('app.kubernetes.io/component=operator');
  const restarts = pods.flatMap(({ status }) => (status.containerStatuses ?? []).map(({ restartCount }) => restartCount));
  if (restarts.length !== 1 || restarts[0] !== 0) throw new Error(`the operator has started again: ${restarts.join() || 'there is no pod of it'}`);
}
