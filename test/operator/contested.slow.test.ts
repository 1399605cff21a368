// A second writer that changes at full speed what the operator writes: a target, a key, the contents of an application.
import { expect } from 'chai';
import { createSecretApplications } from '../../services/operator/secret-applications/controller.ts';
import { resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createSecretsService } from '../../services/operator/secrets-service.ts';
import { createSyncedSecrets } from '../../services/operator/synced-secrets/controller.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createManagementClient, type ManagementClient } from '../../services/secrets/client.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from './operator.ts';

/** The operator undoes three changes at once; more would be a fight. */
const most = 4;

describeWith(kubernetes, 'a second writer', () => {
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let cluster: TestCluster;
  let operator: RunningOperator;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    cluster = await createTestCluster();
    const secrets = createSecretsService({ baseUrl: service.url, adminKey: adminToken });
    const controllers = () => [createSecretApplications(secrets, ownershipIn(cluster.namespace)), createSyncedSecrets(secrets, ownershipIn(cluster.namespace))];
    operator = await runControllers(controllers, cluster.namespace, { log: silentLog, feed: secrets.follow });
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
    await service.close();
    await database.drop();
  });

  const applyApplication = (name: string, spec: object = {}) =>
    cluster.apply(resourceOf('SecretApplication'), {
      metadata: { name },
      spec: { applicationName: name, apiKeySecretRef: { name: `${name}-key`, key: 'api-key' }, ...spec },
    });
  const isReady = (kind: 'SecretApplication' | 'SyncedSecret', name: string, reason: string) =>
    eventually(
      async () => {
        const ready = await cluster.readyOf(kind, name);
        expect(ready?.reason, ready?.message).to.equal(reason);
        return ready?.message ?? '';
      },
      { withinMs: 30_000 },
    );
  /** Undoes what the operator restores, until the condition says so. @returns how often */
  async function fight(kind: 'SecretApplication' | 'SyncedSecret', name: string, undo: () => Promise<boolean>): Promise<number> {
    let count = 0;
    await eventually(
      async () => {
        if (await undo()) count += 1;
        return (await cluster.readyOf(kind, name))?.reason === 'Contested';
      },
      { withinMs: 60_000, everyMs: 20 },
    );
    // The pause is a minute: nothing more is restored now.
    for (let n = 0; n < 50; n++) if (await undo()) count += 1;
    return count;
  }

  it('of a target makes the object Contested after three restorations, and the target stays as it is for a minute', async () => {
    await applyApplication('target');
    await isReady('SecretApplication', 'target', 'InSync');
    await management.createSecret('target', { name: 'password' });
    const value = secretValue('target');
    await management.setValues('target', 'password', [{ environmentSlug: 'local', value }]);
    const spec = { applicationRef: { name: 'target' }, environment: 'local', data: [{ key: 'A', secret: 'password' }] };
    await cluster.apply(resourceOf('SyncedSecret'), { metadata: { name: 'target' }, spec });
    await isReady('SyncedSecret', 'target', 'Synced');
    const undone = await fight('SyncedSecret', 'target', async () => {
      if ((await cluster.secretData('target'))?.['A'] !== value) return false;
      await cluster.apply(secretResource, { metadata: { name: 'target' }, data: { A: Buffer.from('theirs').toString('base64') } });
      return true;
    });
    expect(undone).to.be.at.most(most);
    expect(await isReady('SyncedSecret', 'target', 'Contested')).to.include('another writer changes the Secret target');
    // Another spec is written at once.
    await cluster.apply(resourceOf('SyncedSecret'), { metadata: { name: 'target' }, spec: { ...spec, data: [{ key: 'B', secret: 'password' }] } });
    await isReady('SyncedSecret', 'target', 'Synced');
    expect(await cluster.secretData('target')).to.deep.equal({ B: value });
  });

  it('of keys that are its own is undone with mergePolicy: Replace, and left with Merge, however often it writes', async () => {
    await applyApplication('merged');
    await isReady('SecretApplication', 'merged', 'InSync');
    await management.createSecret('merged', { name: 'password' });
    const value = secretValue('merged');
    await management.setValues('merged', 'password', [{ environmentSlug: 'local', value }]);
    const apply = (mergePolicy: 'Merge' | 'Replace') =>
      cluster.apply(resourceOf('SyncedSecret'), {
        metadata: { name: 'merged' },
        spec: { applicationRef: { name: 'merged' }, environment: 'local', target: { mergePolicy }, data: [{ key: 'A', secret: 'password' }] },
      });
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    await apply('Merge');
    await isReady('SyncedSecret', 'merged', 'Synced');
    for (let n = 0; n < 10; n++) await cluster.apply(secretResource, { metadata: { name: 'merged' }, data: { B: encoded(String(n)) } });
    await cluster.apply(secretResource, { metadata: { name: 'merged' }, data: { A: encoded('theirs'), B: encoded('last') } });
    await eventually(async () => expect(await cluster.secretData('merged')).to.deep.equal({ A: value, B: 'last' }));
    expect(await isReady('SyncedSecret', 'merged', 'Synced')).to.equal('1 key');
    await apply('Replace');
    await eventually(async () => expect(await cluster.secretData('merged')).to.deep.equal({ A: value }));
  });

  it('of a key makes the object Contested, and the key is not rotated for a minute', async () => {
    await applyApplication('key');
    await isReady('SecretApplication', 'key', 'InSync');
    const keyOf = async () => (await cluster.secretData('key-key'))?.['api-key'] ?? '';
    const undone = await fight('SecretApplication', 'key', async () => {
      if (!(await keyOf()).startsWith('key_')) return false;
      await cluster.apply(secretResource, { metadata: { name: 'key-key' }, data: { 'api-key': Buffer.from('theirs').toString('base64') } });
      return true;
    });
    expect(undone).to.be.at.most(most + 1);
  });

  it('of the contents makes the object Contested, while a refusal of the service does not', async () => {
    const mine = { environment: 'local', key: 'a', value: 'mine' };
    await applyApplication('contents', { configuration: [mine, { environment: 'nowhere', key: 'b', value: '1' }] });
    await isReady('SecretApplication', 'contents', 'NotFound');
    for (let n = 0; n < 6; n++) {
      const key = { namespace: cluster.namespace, name: 'contents' };
      await cluster.cluster.patch(resourceOf('SecretApplication'), key, { metadata: { annotations: { look: String(n) } } });
      await applyApplication(`after-${n}`);
      await isReady('SecretApplication', `after-${n}`, 'InSync');
    }
    await isReady('SecretApplication', 'contents', 'NotFound');
    const undone = await fight('SecretApplication', 'contents', async () => {
      const [entry] = await management.configurations('contents');
      if (entry?.value !== 'mine') return false;
      await management.updateConfiguration('contents', { environmentSlug: 'local', key: 'a', value: 'theirs' });
      return true;
    });
    expect(undone).to.be.at.most(most + 1);
  });
});
