// Many SyncedSecrets: a real operator in 200 MiB syncs them, follows a change that concerns them all, and then rests.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { listAll } from '../../services/operator/cluster/client.ts';
import { resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createManagementClient, type ManagementClient } from '../../services/secrets/client.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import { createFaultProxy, type FaultProxy } from '../support/fault-proxy.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { kubernetes, sharedApiServer } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { mebibyte } from '../support/usage.ts';
import { eventually } from '../support/wait.ts';
import { createTestCluster, type TestCluster } from './operator.ts';

/** The promise is tried by `TEST_OPERATOR_OBJECTS=1000 TEST_OPERATOR_QUIET_SECONDS=300`. */
const count = Number(process.env['TEST_OPERATOR_OBJECTS'] ?? 60);
const quietSeconds = Number(process.env['TEST_OPERATOR_QUIET_SECONDS'] ?? 5);
const synced = resourceOf('SyncedSecret');

describeWith(kubernetes, `${count} SyncedSecrets`, function () {
  this.timeout(600_000);
  let cluster: TestCluster;
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let proxy: FaultProxy;
  let operator: RunningProcess;

  before(async () => {
    cluster = await createTestCluster();
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    proxy = await createFaultProxy((await sharedApiServer()).config);
    const kubeconfig = join(temporaryDirectory('many'), 'kubeconfig');
    await writeFile(kubeconfig, proxy.config.exportConfig());
    const { namespace } = cluster;
    const application = await management.createApplication({ name: 'Many' });
    await management.createSecret('many', { name: 'password' });
    await cluster.apply(secretResource, { metadata: { name: 'many-key' }, data: { key: Buffer.from(application.plainApiKey).toString('base64') } });
    await change();
    const spec = { apiKeySecretRef: { name: 'many-key', key: 'key' }, environment: 'local', data: [{ key: 'PASSWORD', secret: 'password' }] };
    for (let from = 0; from < count; from += 20)
      await Promise.all(Array.from({ length: Math.min(20, count - from) }, (_, n) => cluster.apply(synced, { metadata: { name: `many-${from + n}` }, spec })));
    const env = {
      KUBECONFIG: kubeconfig,
      METRICS_PORT: '0',
      Operator__Namespace: namespace,
      Operator__LeaseNamespace: namespace,
      Secrets__BaseUrl: service.url,
      Management__AdminApiKey: adminToken,
    };
    operator = startProcess(['operator'], { env, memoryBytes: 200 * mebibyte });
  });
  after(async () => {
    await operator.kill();
    await proxy.close();
    await service.close();
    await database.drop();
    await cluster.close();
  });

  let value = '';
  async function change(): Promise<void> {
    value = secretValue('many');
    await management.setValues('many', 'password', [{ environmentSlug: 'local', value }]);
  }

  const all = () =>
    eventually(
      async () => {
        const { objects: secrets } = await listAll(cluster.transport, secretResource, { namespace: cluster.namespace });
        const encoded = Buffer.from(value).toString('base64');
        expect(secrets.filter((secret) => JSON.stringify(secret['data'] ?? {}).includes(encoded))).to.have.length(count);
      },
      { withinMs: 60_000, everyMs: 250 },
    );

  it('are synced within a minute of a start', () => all());

  it('all follow a change of the value that they share within a minute', async () => {
    await change();
    await all();
  });

  it(`write nothing once they are settled, for ${quietSeconds} s`, async () => {
    const calls = () => proxy.takeCalls().filter(({ url }) => !url.includes('/leases/') && !url.startsWith('/version'));
    // Each look is at what was asked since the one before; the first one has the work of the test before.
    await eventually(() => expect(calls()).to.deep.equal([]), { withinMs: 60_000, everyMs: 5000 });
    await pause(quietSeconds * 1000);
    expect(calls().filter(({ method }) => method !== 'GET')).to.deep.equal([]);
    expect(await Promise.race([operator.exited, Promise.resolve('running')])).to.equal('running');
  });
});
