// The rights that the chart grants are the rights that a real operator uses, and no more.
import { expect } from 'chai';
import { z } from 'zod';
import type { Resource } from '../../services/operator/cluster/cluster.ts';
import { annotations } from '../../services/operator/contract.ts';
import { configMapResource, resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createManagementClient } from '../../services/secrets/client.ts';
import { apiServer } from '../charts/api-server.ts';
import { operatorChart, render } from '../charts/chart.ts';
import { ofKind } from '../charts/manifests.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import type { Call } from '../support/fault-proxy.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import type { Values } from '../support/values.ts';
import { eventually } from '../support/wait.ts';
import { applyChartRights, type OperatorProcess, startOperator } from './chart-rights.ts';
import { createTestCluster, deployment, type TestCluster } from './operator.ts';

const folder = operatorChart;
const ofApps = (kind: string, plural: string): Resource => ({ ...deployment, kind, plural });
const workloads = [deployment, ofApps('StatefulSet', 'statefulsets'), ofApps('DaemonSet', 'daemonsets')];
const podResource: Resource = { apiVersion: 'v1', kind: 'Pod', plural: 'pods' };

const Rules = z.object({ rules: z.array(z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) })) });

/** As `secrets get` or `leases.coordination.k8s.io patch`. */
function grantedBy(objects: readonly object[]): string[] {
  const rules = objects.flatMap((object) => Rules.parse(object).rules);
  const each = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => rightOf(group, resource, verb)))),
  );
  return [...new Set(each)];
}

const rightOf = (group: string, resource: string, verb: string) => {
  const [plural = '', part] = resource.split('/');
  return `${[plural, group].filter(Boolean).join('.')}${part === undefined ? '' : `/${part}`} ${verb}`;
};

/** The rights that a request needs: what is applied and was not there is created, too. */
function neededBy({ method, url, status }: Call): string[] {
  const { pathname, searchParams } = new URL(url, 'http://api');
  const found = /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+(?:\/namespaces\/[^/]+)?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>[^/]+))?$/.exec(pathname);
  // Health and versions are for everyone.
  if (!found?.groups) return [];
  const { group = '', plural = '', name, part } = found.groups;
  const reading = name === undefined ? (searchParams.get('watch') === 'true' ? 'watch' : 'list') : 'get';
  const verbs: Readonly<Record<string, readonly string[]>> = {
    GET: [reading],
    POST: ['create'],
    PUT: ['update'],
    PATCH: status === 201 ? ['create', 'patch'] : ['patch'],
    DELETE: ['delete'],
  };
  return (verbs[method] ?? []).map((verb) => rightOf(group, part === undefined ? plural : `${plural}/${part}`, verb));
}

describeWith(apiServer, 'the rights of the operator', function () {
  this.timeout(180_000);
  let cluster: TestCluster;
  let database: TestDatabase;
  let service: TestService;
  let operator: OperatorProcess;
  let granted: string[];

  before(async () => {
    cluster = await createTestCluster();
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    const rights = await applyChartRights(cluster, service.url);
    granted = grantedBy(rights.roles);
    operator = await startOperator(cluster, rights, service.url);
  });
  after(async () => {
    await operator.stop();
    await service.close();
    await database.drop();
    await cluster.close();
  });

  const isReady = (kind: 'BrokerConnection' | 'SecretApplication' | 'SyncedSecret', name: string, reason: string) =>
    eventually(async () => expect((await cluster.readyOf(kind, name))?.reason).to.equal(reason), { withinMs: 60_000 });
  const inBase64 = (text: string) => Buffer.from(text).toString('base64');

  /** Makes use of each right. */
  async function useAll(): Promise<void> {
    const management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    await cluster.apply(configMapResource, { metadata: { name: 'features' }, data: { beta: 'on' } });
    const configuration = [{ environment: 'local', key: 'Beta', valueFrom: { configMapKeyRef: { name: 'features', key: 'beta' } } }];
    for (const name of ['shop', 'gone'])
      await cluster.apply(resourceOf('SecretApplication'), {
        metadata: { name },
        spec: { applicationName: name, apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, configuration, deletionPolicy: 'Delete', rotateEvery: '720h' },
      });
    for (const name of ['shop', 'gone']) await isReady('SecretApplication', name, 'InSync');
    await cluster.remove(resourceOf('SecretApplication'), 'gone');

    const labels = { app: 'shop' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } };
    for (const resource of workloads) await cluster.apply(resource, { metadata: { name: 'shop' }, spec: { selector: { matchLabels: labels }, template } });
    await management.createSecret('shop', { name: 'password' });
    const change = (value: string) => management.setValues('shop', 'password', [{ environmentSlug: 'local', value: secretValue(value) }]);
    await change('first');
    const rollout = workloads.map(({ kind }) => ({ kind, name: 'shop' }));
    const data = [{ key: 'PASSWORD', secret: 'password' }];
    await cluster.apply(resourceOf('SyncedSecret'), {
      metadata: { name: 'shop' },
      spec: { applicationRef: { name: 'shop' }, environment: 'local', data, rollout },
    });
    await isReady('SyncedSecret', 'shop', 'Synced');
    await change('second');
    await cluster.apply(secretResource, { metadata: { name: 'shop-key', annotations: { [annotations.rotatedAt]: '2026-01-01T00:00:00Z' } } });

    const env = [{ name: 'Broker__EnvironmentFile', value: '/etc/signalbox/brokers/brokers.env' }];
    const volumes = [{ name: 'brokers', secret: { secretName: 'brokers', optional: true } }];
    const spec = { schedulerName: 'nobody', containers: [{ name: 'relay', image: 'none', env }], volumes };
    await cluster.apply(podResource, {
      metadata: { name: 'relay', labels: { 'app.kubernetes.io/component': 'webhook-relay', 'signalbox.dev/brokers': 'followed' } },
      spec,
    });
    await cluster.apply(secretResource, { metadata: { name: 'first-url' }, data: { url: inBase64('amqp://broker') } });
    await cluster.apply(resourceOf('BrokerConnection'), {
      metadata: { name: 'first' },
      spec: { position: 1, urlSecretRef: { name: 'first-url', key: 'url' } },
    });
  }

  it('are all needed, and enough', async () => {
    await useAll();
    const calls: Call[] = [];
    const used = () => calls.flatMap(neededBy);
    await eventually(
      () => {
        calls.push(...operator.proxy.takeCalls());
        expect(granted).to.have.members([...new Set(used())]);
      },
      { withinMs: 60_000 },
    );
    expect(calls.filter(({ status }) => status === 403)).to.deep.equal([]);
  });

  it('are the same in all namespaces and in one', async () => {
    const rulesOf = async (values: Values, kind: string) => {
      const [first] = ofKind(await render(values, { folder }), kind);
      return Rules.parse(first).rules;
    };
    expect(await rulesOf({}, 'ClusterRole')).to.deep.equal(await rulesOf({ watchNamespace: 'shop' }, 'Role'));
  });
});
