import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { adminToken, newApplication, putSecret, secretValue } from '../services/secrets/service.ts';
import { deployables } from '../../services/command/deployables.ts';
import { generatedCredentials } from '../../services/install/credentials.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createForge, examplePayload, loggedDeliveries } from '../system/flow.ts';
import { type RolesServer, startRolesServer } from './server.ts';

const database = 'signalbox';
const firstKey = `key-1:${randomBytes(32).toString('base64')}`;
const credentials = {
  APP_ENV: 'development',
  Forge__WebhookSecrets: 'the secret of the forge',
  Broker__AuthToken: 'the token of the broker',
  Intake__AccessTokens: 'the token of the dashboard',
  Management__AdminApiKey: adminToken,
  Encryption__MasterKeys: firstKey,
};

// The whole of it as the chart runs it: each process with the URL of its own role, the embedded broker with one more.
describe('services that have a database role each', () => {
  let server: RolesServer;
  const running: RunningProcess[] = [];
  const urls: Record<string, string> = {};
  const as = (role: string) => server.urlOf(role, database);

  before(async () => {
    server = await startRolesServer();
    const migrated = startProcess(['migrate', '--with-broker', '--close-other-databases'], { env: server.environment(database) });
    expect(await migrated.exited, migrated.lines.join('\n')).to.deep.equal({ code: 0, signal: null });
    await Promise.all([
      start('relay', ['serve', 'webhook-relay'], { FailedPayloads__Directory: temporaryDirectory('spool') }),
      start('intake', ['serve', 'webhook-intake']),
      start('intake', ['worker', 'service', '--loop']),
      start('intake', ['worker', 'database-service', '--loop']),
      start('secrets', ['serve', 'secrets']),
    ]);
  });
  after(async () => {
    await Promise.all(running.map((process) => process.kill()));
    await server.close();
  });

  async function start(role: string, args: readonly string[], extra: Record<string, string> = {}): Promise<void> {
    const port = String(await freePort());
    const env = { ...credentials, DATABASE_URL: as(role), BROKER_URL_1: as('broker'), PORT: port, METRICS_PORT: '0', ...extra };
    const process = startProcess(args, { env });
    running.push(process);
    urls[args.join(' ')] = `http://127.0.0.1:${port}`;
    await process.waitForLine(/"msg":"ready"/);
  }

  it('take a delivery through the embedded broker to the event log', async () => {
    const forge = createForge([urls['serve webhook-relay'] ?? '']);
    const { status, deliveryId } = await forge.deliver(examplePayload(1));
    forge.close();
    expect(status).to.equal(202);
    await eventually(async () => (await loggedDeliveries(as('intake'))).get(deliveryId) === 1);
  });

  it('keep their partitions by themselves', async () => {
    const made = await server.asAdmin(
      database,
      `select c.relowner::regrole::text, count(*)::int > 1 from pg_inherits i join pg_class c on c.oid = i.inhrelid where c.relkind = 'r' group by 1 order by 1`,
    );
    expect(made).to.deep.equal([
      ['broker', true],
      ['intake', true],
      ['secrets', true],
    ]);
  });

  it('run the commands of the secrets service', async () => {
    const url = urls['serve secrets'] ?? '';
    const { slug } = await newApplication(url);
    await putSecret(url, slug, 'password', { value: secretValue('of a role') });
    const masterKeys = `second:${randomBytes(32).toString('base64')},${firstKey}`;
    const env = { DATABASE_URL: as('secrets'), Encryption__MasterKeys: masterKeys };
    for (const [args, more] of [
      [['secrets', 'rewrap'], {}],
      [['secrets', 'audit'], {}],
      [['secrets', 'backup'], { Backup__Key: randomBytes(32).toString('base64') }],
    ] as const) {
      const command = startProcess(args, { env: { ...env, ...more } });
      expect(await command.exited, command.lines.join('\n')).to.deep.equal({ code: 0, signal: null });
    }
  });

  // As of an installation whose Secret was lost, and whose volumes or Postgres were not.
  it('stay closed to credentials that were made once more, and say so', async () => {
    const made = generatedCredentials(await deployables.loadAll());
    const again = (key: string) => made.get(key)?.() ?? '';
    const env = { ...server.environment(database), POSTGRES_ADMIN_PASSWORD: again('postgres-admin-password') };
    const migrated = startProcess(['migrate', '--wait', '0'], { env });
    expect(await migrated.exited).to.deep.equal({ code: 1, signal: null });
    expect(migrated.lines.join('\n')).to.match(/administrator \w+ is refused \(a server keeps the password that it was first started with/);

    const port = String(await freePort());
    const other = { ...credentials, Encryption__MasterKeys: again('Encryption__MasterKeys') };
    running.push(startProcess(['serve', 'secrets'], { env: { ...other, DATABASE_URL: as('secrets'), PORT: port, METRICS_PORT: '0' } }));
    const detail = "master key 'key-1' is not the one of that id that this database was sealed with";
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
      return answer.status === 503 && (await answer.text()).includes(detail);
    });
  });

  it('are never denied anything by the database', async () => {
    const log = String((await server.asAdmin('postgres', `select pg_read_file(current_setting('data_directory') || '/../postgres.log')`))[0]);
    expect(log).to.contain('ready to accept connections').and.not.to.contain('permission denied');
  });
});
