// A SyncedSecret that has a random value made where there is none: on the real API server, with a real secrets service.
import { expect } from 'chai';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { resourceOf } from '../../../services/operator/secrets.ts';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { createSyncedSecrets } from '../../../services/operator/synced-secrets/controller.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createManagementClient, type ManagementClient } from '../../../services/secrets/client.ts';
import { adminToken, manage, migrations, secretValue, startService, type TestService } from '../../services/secrets/service.ts';
import { kubernetes } from '../../support/kubernetes.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from '../operator.ts';

describeWith(kubernetes, 'a generated value', () => {
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
    const ownership = ownershipIn(cluster.namespace);
    operator = await runControllers(() => [createSecretApplications(secrets, ownership), createSyncedSecrets(secrets, ownership)], cluster.namespace, {
      log: silentLog,
      feed: secrets.follow,
    });
    const spec = { applicationName: 'Shop', environments: ['Production'], apiKeySecretRef: { name: 'shop-key', key: 'api-key' }, generate: 'Allow' };
    await cluster.apply(resourceOf('SecretApplication'), { metadata: { name: 'shop' }, spec });
    await isReady('SecretApplication', 'shop', 'InSync');
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
    await service.close();
    await database.drop();
  });

  const isReady = (kind: 'SecretApplication' | 'SyncedSecret', name: string, reason: string) =>
    eventually(async () => {
      const ready = await cluster.readyOf(kind, name);
      expect(ready?.reason, ready?.message).to.equal(reason);
      return ready?.message ?? '';
    });
  const sync = (name: string, secret: string, generate: object, more: object = {}) =>
    cluster.apply(resourceOf('SyncedSecret'), {
      metadata: { name },
      spec: { applicationRef: { name: 'shop' }, environment: 'production', data: [{ key: 'A', secret, generate }], ...more },
    });
  const versions = async (secret: string, environment = 'production') => (await management.versions('shop', secret, environment)).map(({ version }) => version);

  it('is made once, of the length and the characters that are named', async () => {
    await sync('made', 'made', { length: 40, alphabet: 'hex' });
    await isReady('SyncedSecret', 'made', 'Synced');
    const value = (await cluster.secretData('made'))?.['A'];
    expect(value).to.match(/^[0-9a-f]{40}$/);
    await sync('made', 'made', { length: 50 });
    await isReady('SyncedSecret', 'made', 'Synced');
    expect(await cluster.secretData('made')).to.deep.equal({ A: value });
    expect(await versions('made')).to.deep.equal([1]);
    expect(await versions('made', 'local')).to.deep.equal([]);
  });

  it('has 32 letters and digits unless the entry says more', async () => {
    await sync('plain', 'plain', {});
    await isReady('SyncedSecret', 'plain', 'Synced');
    expect((await cluster.secretData('plain'))?.['A']).to.match(/^[A-Za-z0-9]{32}$/);
  });

  it('leaves a value that there is, also one of a secret that is there for another environment', async () => {
    const value = secretValue('there');
    await management.createSecret('shop', { name: 'there' });
    await management.setValues('shop', 'there', [{ environmentSlug: 'production', value }]);
    await sync('there', 'there', {});
    await isReady('SyncedSecret', 'there', 'Synced');
    expect(await cluster.secretData('there')).to.deep.equal({ A: value });
    await sync('there-too', 'there', {}, { environment: 'local' });
    await isReady('SyncedSecret', 'there-too', 'Synced');
    expect([await versions('there'), await versions('there', 'local')]).to.deep.equal([[1], [1]]);
  });

  it('does not take the place of a version that is disabled', async () => {
    await management.createSecret('shop', { name: 'disabled' });
    await management.setValues('shop', 'disabled', [{ environmentSlug: 'production', value: secretValue('disabled'), isEnabled: false }]);
    await sync('disabled', 'disabled', {});
    expect(await isReady('SyncedSecret', 'disabled', 'NotFound')).to.include('disabled');
    expect(await versions('disabled')).to.deep.equal([1]);
    const enabled = await manage(service.url, 'PATCH', '/shop/secrets/disabled/versions/production/1', { isEnabled: true });
    expect(enabled.status).to.equal(200);
    await isReady('SyncedSecret', 'disabled', 'Synced');
  });

  it('is one for two objects that ask at the same time', async () => {
    const names = Array.from({ length: 6 }, (_, n) => `both-${n}`);
    await Promise.all(names.map((name) => sync(name, 'both', {})));
    for (const name of names) await isReady('SyncedSecret', name, 'Synced');
    const values = await Promise.all(names.map(async (name) => (await cluster.secretData(name))?.['A']));
    expect(new Set(values).size).to.equal(1);
    expect(await versions('both')).to.deep.equal([1]);
  });

  it('is not made in an environment that there is not', async () => {
    await sync('nowhere', 'nowhere', {}, { environment: 'nowhere' });
    expect(await isReady('SyncedSecret', 'nowhere', 'NotFound')).to.include('nowhere');
  });
});
