// ServiceAccounts of a SecretApplication: pods read with their own tokens, which the API server reviews.
import { expect } from 'chai';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { resourceOf } from '../../../services/operator/secrets.ts';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createManagementClient, type ManagementClient } from '../../../services/secrets/client.ts';
import { type ClusterAccounts, createClusterAccounts } from '../../services/secrets/consumer/cluster-accounts.ts';
import { adminToken, call, migrations, startService, type TestService } from '../../services/secrets/service.ts';
import { kubernetes } from '../../support/kubernetes.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from '../operator.ts';

const resource = resourceOf('SecretApplication');

describeWith(kubernetes, 'ServiceAccounts of a SecretApplication', () => {
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let cluster: TestCluster;
  let accounts: ClusterAccounts;
  let operator: RunningOperator | undefined;

  before(async () => {
    cluster = await createTestCluster();
    accounts = await createClusterAccounts(cluster.namespace);
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url, apiServer: accounts.transport });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
  });
  afterEach(async () => {
    await operator?.stop();
    operator = undefined;
  });
  after(async () => {
    await service?.close();
    await database?.drop();
    await accounts?.close();
    await cluster?.close();
  });

  const start = async (serviceAccounts: 'on' | 'off') => {
    const secrets = createSecretsService({ baseUrl: service.url, adminKey: adminToken });
    const controllers = () => [createSecretApplications(secrets, ownershipIn(cluster.namespace, cluster.namespace, serviceAccounts))];
    operator = await runControllers(controllers, cluster.namespace, { log: silentLog, feed: secrets.follow });
  };
  const apply = (name: string, serviceAccounts: readonly string[]) =>
    cluster.apply(resource, { metadata: { name }, spec: { applicationName: name, apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, serviceAccounts } });
  const says = (name: string, reason: string, message = '') =>
    eventually(async () => {
      const ready = await cluster.readyOf('SecretApplication', name);
      expect(ready?.reason).to.equal(reason);
      expect(ready?.message).to.contain(message);
    });
  const bound = async (slug: string) => (await management.accounts(slug)).map(({ namespace, name }) => `${namespace}/${name}`);
  const status = async (token: string) =>
    (await call(service.url, { path: '/api/consumer/configurations?environment=local', headers: { Authorization: `Bearer ${token}` } })).status;

  it('read with their tokens, until one is taken out of the object; those of other namespaces stay', async () => {
    await start('on');
    await accounts.createAccount('worker');
    await apply('read-by-pods', ['web', 'worker']);
    await says('read-by-pods', 'InSync');
    const [web, worker] = [await accounts.tokenOf({ account: 'web' }), await accounts.tokenOf({ account: 'worker' })];
    expect([await status(web), await status(worker)]).to.deep.equal([200, 200]);
    await management.bindAccount('read-by-pods', { namespace: 'elsewhere', name: 'web' });
    await apply('read-by-pods', ['worker']);
    await says('read-by-pods', 'InSync');
    await eventually(async () => expect(await status(web)).to.equal(401));
    expect(await status(worker)).to.equal(200);
    expect(await bound('read-by-pods')).to.have.members(['elsewhere/web', `${cluster.namespace}/worker`]);
  });

  it('are bound again after an edit by hand in the service', async () => {
    await start('on');
    await apply('edited', ['edited-account']);
    await says('edited', 'InSync');
    await management.unbindAccount('edited', { namespace: cluster.namespace, name: 'edited-account' });
    await eventually(async () => expect(await bound('edited')).to.deep.equal([`${cluster.namespace}/edited-account`]));
  });

  it('are refused where another application has the account', async () => {
    await start('on');
    await management.createApplication({ name: 'First' });
    await management.bindAccount('first', { namespace: cluster.namespace, name: 'taken' });
    await apply('second', ['taken']);
    await says('second', 'ValueRefused', 'ServiceAccount taken');
    expect(await bound('first')).to.deep.equal([`${cluster.namespace}/taken`]);
    expect(await bound('second')).to.deep.equal([]);
  });

  it('are not bound by an operator whose cluster is not that of the service', async () => {
    await start('off');
    await apply('elsewhere', ['unbound']);
    await says('elsewhere', 'ValueRefused', 'Operator__ServiceAccounts');
    expect(await bound('elsewhere')).to.deep.equal([]);
  });

  it('are accounts by name: the API server refuses a namespace in one, and one that is named twice', async () => {
    for (const wrong of [['other/web'], ['Web'], ['web', 'web']]) {
      const failure = await apply('wrong', wrong).then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure, wrong.join()).to.be.instanceOf(Error);
    }
  });
});
