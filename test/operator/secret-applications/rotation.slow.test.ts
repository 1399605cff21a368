// The key of an application is replaced without a gap: pods of a real Deployment read with it all the time, and the operator is stopped at each step.
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { annotations } from '../../../services/operator/contract.ts';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { fingerprintOf } from '../../../services/operator/secret-applications/key-secret.ts';
import { annotationOf, resourceOf, secretResource } from '../../../services/operator/secrets.ts';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { statusOf } from '../../../services/operator/status.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createManagementClient, type ManagementClient } from '../../../services/secrets/client.ts';
import { adminToken, consume, migrations, startService, type TestService } from '../../services/secrets/service.ts';
import { createFaultProxy, type FaultProxy } from '../../support/fault-proxy.ts';
import { kubernetes, sharedApiServer } from '../../support/kubernetes.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createStopProxy, type Passed, type StopProxy } from '../../support/stop-proxy.ts';
import { eventually } from '../../support/wait.ts';
import { startNode, type TestNode } from '../node.ts';
import { createTestCluster, deployment, ownershipIn, runControllers, type RunningOperator, type TestCluster } from '../operator.ts';

const resource = resourceOf('SecretApplication');
const nextToken = 'the next administrator of the tests';
const withinMs = 60_000;

describeWith(kubernetes, 'the rotation of a key', function () {
  this.timeout(180_000);
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let cluster: TestCluster;
  let node: TestNode;
  let faults: FaultProxy;
  let proxies: { readonly api: StopProxy; readonly secrets: StopProxy };
  let operator: RunningOperator | undefined;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url, environment: { Management__AdminApiKey: `${adminToken},${nextToken}` } });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    cluster = await createTestCluster();
    faults = await createFaultProxy((await sharedApiServer()).config);
    proxies = { api: await createStopProxy(faults.config.getCurrentCluster()?.server ?? ''), secrets: await createStopProxy(service.url) };
    node = await startNode(cluster, {
      readKey: async () => (await cluster.secretData('shop-key'))?.['api-key'] ?? '',
      read: async (key) => (await consume(service.url, key, '/configurations?environment=local')).status,
    });
    await start();
    await cluster.apply(resource, { metadata: { name: 'shop' }, spec: specOf({}) });
    await isReady('InSync');
    await cluster.apply(deployment, { metadata: { name: 'shop' }, spec: deploymentSpec });
    await eventually(() => node.keys().length === 2);
  });
  after(async () => {
    await operator?.stop();
    await node.stop();
    for (const proxy of [proxies.api, proxies.secrets, faults]) await proxy.close();
    await cluster.close();
    await service.close();
    await database.drop();
  });

  const specOf = (more: object) => ({ applicationName: 'Shop', apiKeySecretRef: { name: 'shop-key', key: 'api-key' }, rotateEvery: '720h', ...more });
  const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'shop-key', key: 'api-key' } } }];
  const deploymentSpec = {
    replicas: 2,
    selector: { matchLabels: { app: 'shop' } },
    template: { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'main', image: 'none', env }] } },
  };

  async function start(formerKeyMs = 0, [adminKey, ...formerAdminKeys]: readonly [string, ...string[]] = [adminToken]): Promise<void> {
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'proxy', server: proxies.api.url, skipTLSVerify: true }, { name: 'nobody' });
    const secrets = createSecretsService({ baseUrl: proxies.secrets.url, adminKey, formerAdminKeys });
    const controllers = () => [createSecretApplications(secrets, ownershipIn(cluster.namespace), { formerKeyMs, lookMs: 200 })];
    operator = await runControllers(controllers, cluster.namespace, { log: silentLog, feed: secrets.follow, config });
  }
  async function restart(formerKeyMs?: number, tokens?: readonly [string, ...string[]]): Promise<void> {
    await operator?.stop();
    for (const proxy of [proxies.api, proxies.secrets]) proxy.resume();
    await start(formerKeyMs, tokens);
  }
  const isReady = (reason: string) =>
    eventually(
      async () => {
        const ready = await cluster.readyOf('SecretApplication', 'shop');
        expect(ready?.reason, ready?.message).to.equal(reason);
        return ready?.message ?? '';
      },
      { withinMs },
    );
  /** Moves the time of the last rotation, for which no seal is needed. */
  const age = (ms: number) =>
    cluster.apply(secretResource, { metadata: { name: 'shop-key', annotations: { [annotations.rotatedAt]: new Date(Date.now() - ms).toISOString() } } });
  const makeDue = () => age(721 * 3_600_000);
  const currentKey = async () => (await cluster.secretData('shop-key'))?.['api-key'] ?? '';
  const secret = () => cluster.find(secretResource, 'shop-key');
  async function waitsFor(): Promise<unknown> {
    const object = await cluster.find(resource, 'shop');
    return object && statusOf(object)['waitsFor'];
  }
  /** The former key is gone, the pods have the new one, and there is no other. */
  const isFinished = (formerKey: string) =>
    eventually(
      async () => {
        const key = await currentKey();
        expect(key).not.to.equal(formerKey);
        expect(annotationOf(await secret(), 'formerKey')).to.equal(undefined);
        expect((await management.keys('shop')).map(({ fingerprint }) => fingerprint)).to.deep.equal([fingerprintOf(key)]);
        expect(node.keys()).to.deep.equal([key, key]);
        expect(await waitsFor()).to.equal(undefined);
      },
      { withinMs, everyMs: 100 },
    );
  /** The largest number of keys at one time, by the audit. */
  async function mostKeys(): Promise<number> {
    const { rows } = await service.database.driver.query<{ action: string }>(
      "select action from audit_entries where application = 'shop' and action in ('application.create-key', 'application.delete-key') order by id",
    );
    let count = 1;
    return Math.max(...rows.map(({ action }) => (count += action === 'application.create-key' ? 1 : -1)));
  }
  const expectNoRefusal = () => {
    expect([...node.statuses.keys()]).to.deep.equal([200]);
    expect(node.statuses.get(200)).to.be.above(100);
  };

  it('replaces it under constant reads of a rolling Deployment without one 401', async () => {
    const former = await currentKey();
    await makeDue();
    await isFinished(former);
    expectNoRefusal();
    expect(await isReady('InSync')).to.equal('the service has everything');
  });

  const isOfSecret = ({ method, url }: Passed) => method === 'PATCH' && url.includes('/secrets/shop-key');
  const steps: readonly (readonly [string, 'api' | 'secrets', (passed: Passed) => boolean])[] = [
    ['before a key is made', 'api', (passed) => isOfSecret(passed) && passed.body.includes(annotations.rotation)],
    ['when a key was made that no Secret has', 'secrets', ({ method, url }) => method === 'POST' && url.endsWith('/keys')],
    ['when the Secret has the new key', 'api', (passed) => isOfSecret(passed) && passed.body.includes('api-key')],
    ['when the Deployment is rolled', 'api', ({ method, url }) => method === 'PATCH' && url.includes('/deployments/shop')],
    ['when the former key is deleted', 'secrets', ({ method, url }) => method === 'DELETE' && url.includes('/keys/')],
    [
      'when all is done and not yet noted',
      'api',
      (passed) => isOfSecret(passed) && !passed.body.includes('api-key') && !passed.body.includes(annotations.rotation),
    ],
  ];
  for (const [says, proxy, isMeant] of steps)
    it(`goes on after a stop ${says}: one key is left, and no read was refused`, async () => {
      const former = await currentKey();
      const stopped = proxies[proxy].stopAfter(isMeant);
      await makeDue();
      await stopped;
      await restart();
      await isFinished(former);
      expectNoRefusal();
      expect(await mostKeys()).to.equal(2);
    });

  it('keeps the former key of a workload that does not get ready, and says so', async () => {
    const former = await currentKey();
    node.setReadiness(false);
    await makeDue();
    await eventually(async () => expect(await waitsFor()).to.deep.equal(['Deployment shop']), { withinMs });
    expect(await isReady('InSync')).to.include('the former key stays valid and waits for Deployment shop');
    await age(700_000);
    expect(await isReady('FormerKeyKept')).to.include('Deployment shop');
    expect(await management.keys('shop')).to.have.length(2);
    node.setReadiness(true);
    // After ten minutes it looks once a minute only.
    await age(0);
    await isFinished(former);
    expectNoRefusal();
  });

  it('keeps a former key that another program reads with, and every key that the operator did not make', async () => {
    const former = await currentKey();
    const others = await management.createKey('shop', { name: 'reports' });
    await restart(120_000);
    await makeDue();
    await eventually(async () => expect(await waitsFor()).to.deep.equal(['the former key']), { withinMs });
    expect(await management.keys('shop')).to.have.length(3);
    await restart(0);
    await eventually(
      async () =>
        expect((await management.keys('shop')).map(({ fingerprint }) => fingerprint)).to.deep.equal([others.fingerprint, fingerprintOf(await currentKey())]),
      {
        withinMs,
      },
    );
    await management.deleteKey('shop', others.id);
    await isFinished(former);
    expectNoRefusal();
  });

  it('deletes the former key, which the operator did not make by its name, also where the token of the administrator changes meanwhile', async () => {
    const apiKeySecretRef = { name: 'token-key', key: 'api-key' };
    const apply = (rotateEvery: string) =>
      cluster.apply(resource, { metadata: { name: 'token' }, spec: { applicationName: 'Token', apiKeySecretRef, rollout: [], rotateEvery } });
    const keys = async () => (await management.keys('token')).map(({ fingerprint }) => fingerprint);
    await restart(120_000);
    await apply('720h');
    await eventually(async () => expect((await cluster.readyOf('SecretApplication', 'token'))?.reason).to.equal('InSync'), { withinMs });
    const rotatedAt = new Date(Date.now() - 721 * 3_600_000).toISOString();
    await cluster.apply(secretResource, { metadata: { name: 'token-key', annotations: { [annotations.rotatedAt]: rotatedAt } } });
    await eventually(async () => expect(await keys()).to.have.length(2), { withinMs });
    await eventually(async () => expect(annotationOf(await cluster.find(secretResource, 'token-key'), 'formerKey')).to.be.a('string'), { withinMs });
    await restart(0, [nextToken, adminToken]);
    await eventually(async () => expect(await keys()).to.have.length(1), { withinMs });
    expect(await keys()).to.deep.equal([fingerprintOf((await cluster.secretData('token-key'))?.['api-key'] ?? '')]);
    await cluster.remove(resource, 'token');
    await restart(0);
  });

  it('rolls the workloads that the object names, and no other', async () => {
    const former = await currentKey();
    await cluster.apply(deployment, {
      metadata: { name: 'other' },
      spec: {
        ...deploymentSpec,
        replicas: 0,
        selector: { matchLabels: { app: 'other' } },
        template: { ...deploymentSpec.template, metadata: { labels: { app: 'other' } } },
      },
    });
    await cluster.apply(resource, {
      metadata: { name: 'shop' },
      spec: specOf({
        rollout: [
          { kind: 'Deployment', name: 'shop' },
          { kind: 'StatefulSet', name: 'none' },
        ],
      }),
    });
    await makeDue();
    await isFinished(former);
    expect(await isReady('InSync')).to.equal('the service has everything');
    expect(JSON.stringify((await cluster.find(deployment, 'other'))?.['spec'])).not.to.include('signalbox.dev/');
    expect(JSON.stringify((await cluster.find(deployment, 'shop'))?.['spec'])).to.include(`"signalbox.dev/key-shop":"${fingerprintOf(await currentKey())}"`);
    expectNoRefusal();
  });
});
