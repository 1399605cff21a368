// The owner of an application: two clusters with one secrets service, another token of the administrator, an owner that changes.
import { expect } from 'chai';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { annotationOf, resourceOf, secretResource } from '../../../services/operator/secrets.ts';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createManagementClient, type ManagementClient } from '../../../services/secrets/client.ts';
import { adminToken, migrations, startService, type TestService } from '../../services/secrets/service.ts';
import { kubernetes } from '../../support/kubernetes.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from '../operator.ts';

const resource = resourceOf('SecretApplication');
const nextToken = 'the next administrator of the tests';

describeWith(kubernetes, 'the owner of an application', () => {
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let clusters: TestCluster[];
  let operators: RunningOperator[];

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url, environment: { Management__AdminApiKey: `${adminToken},${nextToken}` } });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    clusters = [await createTestCluster(), await createTestCluster()];
  });
  beforeEach(() => {
    operators = [];
  });
  afterEach(() => Promise.all(operators.map((operator) => operator.stop())));
  after(async () => {
    for (const cluster of clusters) await cluster.close();
    await service.close();
    await database.drop();
  });

  const start = async (cluster: TestCluster, { adminKey = adminToken, clusterName = cluster.namespace } = {}) => {
    const secrets = createSecretsService({ baseUrl: service.url, adminKey });
    const controllers = () => [createSecretApplications(secrets, ownershipIn(cluster.namespace, clusterName))];
    const operator = await runControllers(controllers, cluster.namespace, { log: silentLog, feed: secrets.follow });
    operators.push(operator);
    return operator;
  };
  const apply = (cluster: TestCluster, name: string, spec: object) =>
    cluster.apply(resource, { metadata: { name }, spec: { applicationName: name, apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, ...spec } });
  const isReady = (cluster: TestCluster, name: string, reason: string) =>
    eventually(async () => expect((await cluster.readyOf('SecretApplication', name))?.reason).to.equal(reason));
  const rotations = async (slug: string) => {
    const { rows } = await service.database.driver.query<{ count: string }>(
      "select count(*) from audit_entries where action in ('application.rotate-key', 'application.create-key') and application = $1",
      [slug],
    );
    return Number(rows[0]?.count);
  };

  it('is one of two clusters with the same object: one is Ready, the other one says Conflict, and no key is rotated', async () => {
    const [first, second] = clusters;
    if (!first || !second) throw new Error('no clusters');
    for (const cluster of clusters) await start(cluster);
    for (const cluster of clusters) await apply(cluster, 'shared', { existing: 'Adopt', rotateEvery: '720h' });
    const reasons = async () => (await Promise.all(clusters.map((cluster) => cluster.readyOf('SecretApplication', 'shared')))).map((ready) => ready?.reason);
    await eventually(async () => expect(await reasons()).to.have.members(['InSync', 'Conflict']));
    const before = await reasons();
    // A change by hand makes both operators reconcile.
    for (const description of ['a', 'b', 'c']) {
      const { name } = await management.application('shared');
      await management.updateApplication('shared', { name, description });
      for (const cluster of clusters) {
        await apply(cluster, `after-${description}-${cluster.namespace}`, {});
        await isReady(cluster, `after-${description}-${cluster.namespace}`, 'InSync');
      }
    }
    expect(await reasons()).to.deep.equal(before);
    expect(await rotations('shared')).to.equal(0);
  });

  it('stays with the first when the object comes back in another cluster with its status', async () => {
    const [first, second] = clusters;
    if (!first || !second) throw new Error('no clusters');
    for (const cluster of clusters) await start(cluster);
    await apply(first, 'restored', { rotateEvery: '720h' });
    await isReady(first, 'restored', 'InSync');
    const status = { applicationId: (await management.application('restored')).id };
    const secret = await first.find(secretResource, 'restored-key');
    await second.apply(secretResource, { metadata: { name: 'restored-key', annotations: secret?.metadata.annotations }, data: secret?.['data'] });
    await apply(second, 'restored', { rotateEvery: '720h' });
    await second.cluster.applyStatus(resource, { namespace: second.namespace, name: 'restored' }, status);
    await isReady(second, 'restored', 'Conflict');
    await isReady(first, 'restored', 'InSync');
    expect(await rotations('restored')).to.equal(0);
  });

  it('outlives another token of the administrator: no key is rotated, and the application still goes with its object', async () => {
    const [cluster] = clusters;
    if (!cluster) throw new Error('no cluster');
    const operator = await start(cluster);
    await apply(cluster, 'sealed', { deletionPolicy: 'Delete' });
    await isReady(cluster, 'sealed', 'InSync');
    const sealOf = async () => annotationOf(await cluster.find(secretResource, 'sealed-key'), 'seal');
    const [key, seal] = [await cluster.secretData('sealed-key'), await sealOf()];
    await operator.stop();
    await start(cluster, { adminKey: nextToken });
    await eventually(async () => expect(await sealOf()).not.to.equal(seal));
    await isReady(cluster, 'sealed', 'InSync');
    expect(await cluster.secretData('sealed-key')).to.deep.equal(key);
    expect(await rotations('sealed')).to.equal(0);
    await cluster.remove(resource, 'sealed');
    await eventually(async () => expect((await management.applications()).map(({ slug }) => slug)).not.to.include('sealed'));
  });

  it('keeps the application when it has become another one before the object is deleted', async () => {
    const [cluster] = clusters;
    if (!cluster) throw new Error('no cluster');
    await start(cluster);
    await apply(cluster, 'given-away', { deletionPolicy: 'Delete' });
    await isReady(cluster, 'given-away', 'InSync');
    const { name } = await management.application('given-away');
    for (const owner of [null, 'another']) await management.updateApplication('given-away', { name, owner });
    await isReady(cluster, 'given-away', 'Conflict');
    await cluster.remove(resource, 'given-away');
    await eventually(async () => expect(await cluster.secretData('given-away-key')).to.equal(undefined));
    expect((await management.application('given-away')).owner).to.equal('another');
  });
});
