// ServiceAccounts of a SecretApplication: pods read with their own tokens, which the API server reviews.
import { expect } from 'chai';
import { listAll } from '../../../services/operator/cluster/client.ts';
import type { Resource } from '../../../services/operator/cluster/cluster.ts';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { resourceOf, secretResource } from '../../../services/operator/secrets.ts';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { createSyncedSecrets } from '../../../services/operator/synced-secrets/controller.ts';
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
const events: Resource = { apiVersion: 'events.k8s.io/v1', kind: 'Event', plural: 'events' };

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
  const withKey = (name: string) => ({ apiKeySecretRef: { name: `${name}-key`, key: 'api-key' } });
  const applySpec = (name: string, spec: object) => cluster.apply(resource, { metadata: { name }, spec: { applicationName: name, ...spec } });
  const apply = (name: string, serviceAccounts: readonly string[]) => applySpec(name, { ...withKey(name), serviceAccounts });
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

  it('stay as they were bound by hand where the object does not name any, and are unbound where it says that there are none', async () => {
    await start('on');
    await applySpec('by-hand', withKey('by-hand'));
    await says('by-hand', 'InSync');
    await management.bindAccount('by-hand', { namespace: cluster.namespace, name: 'bound-by-hand' });
    await applySpec('by-hand', { ...withKey('by-hand'), description: 'reconciled after the binding' });
    await eventually(async () => expect((await management.application('by-hand')).description).to.equal('reconciled after the binding'));
    await says('by-hand', 'InSync');
    expect(await bound('by-hand')).to.deep.equal([`${cluster.namespace}/bound-by-hand`]);
    await apply('by-hand', []);
    await eventually(async () => expect(await bound('by-hand')).to.deep.equal([]));
  });

  describe('without apiKeySecretRef', () => {
    const keys = async (slug: string) => (await management.keys(slug)).map(({ name }) => name);
    const secrets = async () => (await cluster.cluster.list(secretResource, { namespace: cluster.namespace })).map(({ metadata }) => metadata.name);
    const accept = (credential: string) =>
      call(service.url, { path: '/api/consumer/configurations?environment=local', headers: { 'X-Api-Key': credential } }).then((answer) => answer.status);

    const takeOutKey = (name: string) => cluster.cluster.patch(resource, { namespace: cluster.namespace, name }, { spec: { apiKeySecretRef: null } });

    it('are all that reads: neither the service nor the cluster ever has a key', async () => {
      await start('on');
      const before = await secrets();
      await accounts.createAccount('keyless');
      await applySpec('keyless', { serviceAccounts: ['keyless'], configuration: [{ environment: 'local', key: 'a', value: '1' }] });
      await says('keyless', 'InSync');
      expect(await status(await accounts.tokenOf({ account: 'keyless' }))).to.equal(200);
      expect(await keys('keyless')).to.deep.equal([]);
      expect(await secrets()).to.deep.equal(before);
      const { rows } = await service.database.driver.query('select action from audit_entries where application = $1 order by occurred_at, id', ['keyless']);
      expect(rows.map(({ action }: { action: string }) => action)).to.deep.equal(['application.create', 'configuration.create', 'application.bind-account']);
    });

    it('leave keys that others add, also when the object changes', async () => {
      await start('on');
      await applySpec('beside', { serviceAccounts: ['beside'] });
      await says('beside', 'InSync');
      const { plainApiKey } = await management.createKey('beside', { name: 'by hand' });
      await applySpec('beside', { serviceAccounts: ['beside', 'another'] });
      await eventually(async () => expect(await bound('beside')).to.have.length(2));
      expect(await accept(plainApiKey)).to.equal(200);
    });

    it('end the key of before, and its Secret, where the object had one', async () => {
      await start('on');
      await apply('former', ['former']);
      await says('former', 'InSync');
      const key = (await cluster.secretData('former-key'))?.['api-key'] ?? '';
      const { plainApiKey: byHand } = await management.createKey('former', { name: 'by hand' });
      expect([await accept(key), await accept(byHand)]).to.deep.equal([200, 200]);
      await takeOutKey('former');
      await eventually(async () => expect(await cluster.secretData('former-key')).to.equal(undefined));
      expect([await accept(key), await accept(byHand)]).to.deep.equal([401, 200]);
      const [staying, ...others] = await management.keys('former');
      expect([staying?.name, others]).to.deep.equal(['by hand', []]);
      await says('former', 'InSync', `stay valid: ${staying?.id}`);
      expect(await cluster.find(resource, 'former')).not.to.have.nested.property('status.lastRotatedAt');
    });

    it('leave the key and its Secret while they are not bound, by an operator that does not bind accounts', async () => {
      await start('off');
      await applySpec('unbindable', withKey('unbindable'));
      await says('unbindable', 'InSync');
      const key = (await cluster.secretData('unbindable-key'))?.['api-key'] ?? '';
      await apply('unbindable', ['unbindable']);
      await takeOutKey('unbindable');
      await says('unbindable', 'ValueRefused', 'Operator__ServiceAccounts');
      expect(await accept(key)).to.equal(200);
      expect(await cluster.secretData('unbindable-key')).to.deep.equal({ 'api-key': key });
    });

    it('leave the key and its Secret while another application has the account, then end both', async () => {
      await start('on');
      await management.createApplication({ name: 'Holder' });
      await management.bindAccount('holder', { namespace: cluster.namespace, name: 'held' });
      await apply('waiting', []);
      await says('waiting', 'InSync');
      const key = (await cluster.secretData('waiting-key'))?.['api-key'] ?? '';
      await apply('waiting', ['held']);
      await says('waiting', 'ValueRefused', 'ServiceAccount held');
      await takeOutKey('waiting');
      await says('waiting', 'ValueRefused', 'ServiceAccount held');
      expect(await accept(key)).to.equal(200);
      expect(await cluster.secretData('waiting-key')).to.deep.equal({ 'api-key': key });
      await management.unbindAccount('holder', { namespace: cluster.namespace, name: 'held' });
      await applySpec('waiting', { serviceAccounts: ['held'], description: 'after the account was free' });
      await says('waiting', 'InSync');
      expect(await accept(key)).to.equal(401);
      expect(await cluster.secretData('waiting-key')).to.equal(undefined);
      const { objects } = await listAll(cluster.transport, events, { namespace: cluster.namespace });
      expect(JSON.stringify(objects)).to.include('deleted the key').and.to.include('FormerKeyDeleted');
    });

    it('end a key by the name that the operator gave it, where its Secret is gone', async () => {
      await start('on');
      await applySpec('lost-secret', { serviceAccounts: ['lost-secret'] });
      await says('lost-secret', 'InSync');
      const { plainApiKey } = await management.createKey('lost-secret', { name: 'signalbox-operator 0123456789abcdef' });
      await applySpec('lost-secret', { serviceAccounts: ['lost-secret'], description: 'reconciled' });
      await eventually(async () => expect(await accept(plainApiKey)).to.equal(401));
    });

    it('get a key once the object names a Secret for it', async () => {
      await start('on');
      await applySpec('later', { serviceAccounts: ['later'] });
      await says('later', 'InSync');
      await apply('later', ['later']);
      await eventually(async () => expect(await accept((await cluster.secretData('later-key'))?.['api-key'] ?? 'none')).to.equal(200));
    });

    it('adopt an application with the keys that it has', async () => {
      await start('on');
      const { plainApiKey } = await management.createApplication({ name: 'adopted' });
      await applySpec('adopted', { serviceAccounts: ['adopted'] });
      await says('adopted', 'Conflict', 'existing: Adopt takes it');
      await applySpec('adopted', { serviceAccounts: ['adopted'], existing: 'Adopt' });
      await says('adopted', 'InSync');
      expect(await accept(plainApiKey)).to.equal(200);
      expect(await bound('adopted')).to.deep.equal([`${cluster.namespace}/adopted`]);
    });

    it('are not bound to an application of another owner', async () => {
      await start('on');
      await management.createApplication({ name: 'foreign', owner: 'prod/payroll/foreign' });
      await applySpec('foreign', { serviceAccounts: ['foreign'], existing: 'Adopt' });
      await says('foreign', 'Conflict', 'belongs to another object');
      expect(await bound('foreign')).to.deep.equal([]);
    });

    for (const [deletionPolicy, what] of [
      ['Delete', 'go'],
      ['Retain', 'stay'],
    ] as const)
      it(`${what} with the application when the object is deleted with ${deletionPolicy}, after another leader took over`, async () => {
        await start('on');
        const name = `ended-${deletionPolicy.toLowerCase()}`;
        await applySpec(name, { serviceAccounts: [name], deletionPolicy });
        await says(name, 'InSync');
        await operator?.leadAgain();
        await applySpec(name, { serviceAccounts: [name], deletionPolicy, description: 'seen by the next leader' });
        await eventually(async () => expect((await management.application(name)).description).to.equal('seen by the next leader'));
        await says(name, 'InSync');
        await cluster.remove(resource, name);
        await applySpec(`after-${name}`, { serviceAccounts: [`after-${name}`] });
        await says(`after-${name}`, 'InSync');
        const slugs = async () => (await management.applications()).map(({ slug }) => slug);
        if (deletionPolicy === 'Delete') await eventually(async () => expect(await slugs()).not.to.include(name));
        else expect(await bound(name)).to.deep.equal([`${cluster.namespace}/${name}`]);
      });

    it('give a SyncedSecret no key to read with, and it says so', async () => {
      const secrets = createSecretsService({ baseUrl: service.url, adminKey: adminToken });
      const ownership = ownershipIn(cluster.namespace, cluster.namespace, 'on');
      operator = await runControllers(() => [createSecretApplications(secrets, ownership), createSyncedSecrets(secrets, ownership)], cluster.namespace, {
        log: silentLog,
      });
      await applySpec('read-by-none', { serviceAccounts: ['read-by-none'] });
      await says('read-by-none', 'InSync');
      const spec = { applicationRef: { name: 'read-by-none' }, environment: 'local', data: [{ key: 'A', secret: 'a' }] };
      await cluster.apply(resourceOf('SyncedSecret'), { metadata: { name: 'read-by-none' }, spec });
      await eventually(async () => {
        const ready = await cluster.readyOf('SyncedSecret', 'read-by-none');
        expect(ready?.reason).to.equal('ApplicationNotReady');
        expect(ready?.message).to.include('has no apiKeySecretRef');
      });
    });
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
