// Keys of applications whose Secret takes none: on the real API server, with a real secrets service.
import { expect } from 'chai';
import { createSecretsService } from '../../../services/operator/secrets-service.ts';
import { createSecretApplications } from '../../../services/operator/secret-applications/controller.ts';
import { resourceOf, secretResource } from '../../../services/operator/secrets.ts';
import { createConsumerClient } from '../../../services/secrets/client.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { adminToken, migrations, startService, type TestService } from '../../services/secrets/service.ts';
import { kubernetes } from '../../support/kubernetes.ts';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from '../operator.ts';

describeWith(kubernetes, 'the key of a SecretApplication', () => {
  let database: TestDatabase;
  let service: TestService;
  let cluster: TestCluster;
  let operator: RunningOperator;

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    cluster = await createTestCluster();
    const secrets = createSecretsService({ baseUrl: service.url, adminKey: adminToken });
    operator = await runControllers(() => [createSecretApplications(secrets, ownershipIn(cluster.namespace))], cluster.namespace, {
      log: silentLog,
      feed: secrets.follow,
    });
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
    await service.close();
    await database.drop();
  });

  const apply = (spec: object) =>
    cluster.apply(resourceOf('SecretApplication'), {
      metadata: { name: 'frozen' },
      spec: { applicationName: 'Frozen', apiKeySecretRef: { name: 'frozen', key: 'api-key' }, ...spec },
    });
  const isReady = (reason: string) =>
    eventually(async () => {
      const ready = await cluster.readyOf('SecretApplication', 'frozen');
      expect(ready?.reason, ready?.message).to.equal(reason);
      return ready?.message;
    });

  it('is not rotated while its Secret takes no other one', async () => {
    await apply({});
    await isReady('InSync');
    await cluster.cluster.patch(secretResource, { namespace: cluster.namespace, name: 'frozen' }, { immutable: true });
    await apply({ rotateEvery: '1s' });
    expect(await isReady('ValueRefused')).to.include('immutable');
    const credential = (await cluster.secretData('frozen'))?.['api-key'] ?? '';
    expect(await createConsumerClient({ baseUrl: service.url, credential }).configurations('local')).to.deep.equal([]);
    await cluster.remove(secretResource, 'frozen');
    await isReady('InSync');
  });
});
