// How soon a SyncedSecret follows by the change feed, and what becomes of it while the feed or the whole secrets service is down: all of it real.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createSecretsService } from '../../services/operator/secrets-service.ts';
import { resourceOf, secretResource } from '../../services/operator/secrets.ts';
import { createSyncedSecrets } from '../../services/operator/synced-secrets/controller.ts';
import { createManagementClient, type ManagementClient } from '../../services/secrets/client.ts';
import { silentLog } from '../../services/platform/log.ts';
import { adminToken, migrations, secretValue, startService, type TestService } from '../services/secrets/service.ts';
import { kubernetes } from '../support/kubernetes.ts';
import { describeWith } from '../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createTestCluster, ownershipIn, runControllers, type RunningOperator, type TestCluster } from './operator.ts';

type State = 'works' | 'feed answers 503' | 'feed hangs' | 'away';

/** In front of the service, for reads. */
async function startProxy(upstream: string) {
  let state: State = 'works';
  const polls = new Set<ServerResponse>();

  function forward({ url = '', headers }: IncomingMessage, answer: ServerResponse): void {
    const isPoll = url.startsWith('/api/management/changes');
    if (isPoll) polls.add(answer.on('close', () => polls.delete(answer)));
    if (state === 'away') return void answer.destroy();
    if (isPoll && state === 'feed answers 503') return void answer.writeHead(503).end();
    const sent = request(new URL(url, upstream), { headers, agent: false }, (got) => {
      // A poll that began before the outage stays without an answer, too.
      if (isPoll && state === 'feed hangs') return void got.resume();
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    sent.on('error', () => answer.destroy()).end();
    answer.on('close', () => sent.destroy());
  }

  const port = await freePort();
  const server = createServer(forward);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    set(next: State): void {
      state = next;
      if (next !== 'feed hangs') for (const poll of polls) poll.destroy();
    },
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

describeWith(kubernetes, 'a SyncedSecret and the state of the secrets service', function () {
  this.timeout(180_000);
  let database: TestDatabase;
  let service: TestService;
  let management: ManagementClient;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let cluster: TestCluster;
  let operator: RunningOperator;
  let value = '';

  before(async () => {
    database = await createTestDatabase({ schema: 'secrets', migrations });
    service = await startService({ databaseUrl: database.url });
    management = createManagementClient({ baseUrl: service.url, credential: adminToken });
    proxy = await startProxy(service.url);
    cluster = await createTestCluster();
    const { plainApiKey } = await management.createApplication({ name: 'Shop' });
    await management.createSecret('shop', { name: 'password' });
    await cluster.apply(secretResource, { metadata: { name: 'key' }, data: { key: Buffer.from(plainApiKey).toString('base64') } });
    const spec = { apiKeySecretRef: { name: 'key', key: 'key' }, environment: 'local', data: [{ key: 'PASSWORD', secret: 'password' }] };
    for (const [name, refreshInterval] of [
      ['often', '1s'],
      ['rarely', '1h'],
    ] as const)
      await cluster.apply(resourceOf('SyncedSecret'), { metadata: { name }, spec: { ...spec, refreshInterval } });
    const secrets = createSecretsService({ baseUrl: proxy.url, adminKey: adminToken });
    operator = await runControllers(() => [createSyncedSecrets(secrets, ownershipIn(cluster.namespace))], cluster.namespace, {
      log: silentLog,
      feed: secrets.follow,
    });
  });
  after(async () => {
    await operator.stop();
    await cluster.close();
    proxy.close();
    await service.close();
    await database.drop();
  });

  async function change(): Promise<void> {
    value = secretValue('shop');
    await management.setValues('shop', 'password', [{ environmentSlug: 'local', value }]);
  }
  const passwordOf = async (name: string) => (await cluster.secretData(name))?.['PASSWORD'];
  const isFollowed = (name: string, withinMs: number) => eventually(async () => expect(await passwordOf(name)).to.equal(value), { withinMs });

  it('follows a changed value within 3 s by the feed', async () => {
    await change();
    await isFollowed('rarely', 60_000);
    await change();
    await isFollowed('rarely', 3000);
  });

  for (const outage of ['feed answers 503', 'feed hangs'] as const)
    it(`follows a changed value by its refreshInterval while the ${outage}, and by the feed when that is back`, async () => {
      await change();
      for (const name of ['often', 'rarely']) await isFollowed(name, 60_000);
      const before = value;
      proxy.set(outage);
      await change();
      await isFollowed('often', 10_000);
      expect(await passwordOf('rarely'), 'it hears of no change').to.equal(before);
      proxy.set('works');
      await isFollowed('rarely', 60_000);
    });

  it('keeps the last good value and says ServiceUnavailable while the service is away, and follows when that is back', async () => {
    const says = (reason: string) => eventually(async () => expect((await cluster.readyOf('SyncedSecret', 'often'))?.reason).to.equal(reason));
    await isFollowed('often', 60_000);
    await says('Synced');
    const before = value;
    proxy.set('away');
    await change();
    await says('ServiceUnavailable');
    expect(await passwordOf('often')).to.equal(before);
    proxy.set('works');
    for (const name of ['often', 'rarely']) await isFollowed(name, 60_000);
    await says('Synced');
  });
});
