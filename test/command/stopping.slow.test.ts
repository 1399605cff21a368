// Processes that get SIGTERM while their Postgres hangs: they end by themselves, and unacknowledged messages are delivered again.
import { expect } from 'chai';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { startMuteable } from '../support/muteable.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually } from '../support/wait.ts';
import { adminToken, consume, masterKeys, migrations as secretsMigrations, newApplication, putSecret, secretValue } from '../services/secrets/service.ts';
import { message } from '../services/webhook-intake/deliveries.ts';
import { migrations as intakeMigrations } from '../services/webhook-intake/intake-database.ts';

describe('a process that gets SIGTERM while Postgres hangs ends with 0:', () => {
  let database: TestDatabase;
  let postgres: Awaited<ReturnType<typeof startMuteable>>;
  let started: RunningProcess | undefined;

  async function prepare(schema: string, migrations: URL): Promise<void> {
    database = await createTestDatabase({ schema, migrations });
    postgres = await startMuteable(new URL(database.url));
  }
  afterEach(async () => {
    await started?.kill();
    postgres.close();
    await database.drop();
  });
  const start = (words: readonly string[], extra: Readonly<Record<string, string>>): RunningProcess => {
    const env = { DATABASE_URL: postgres.url, PORT: '0', METRICS_PORT: '0', APP_ENV: 'development', ...extra };
    return (started = startProcess([...words], { env }));
  };
  const urlOf = async (process: RunningProcess) => `http://127.0.0.1:${(await process.waitForLine(/"port":(\d+),"msg":"listening"/))[1] ?? ''}`;
  async function stops(process: RunningProcess): Promise<void> {
    process.signal('SIGTERM');
    expect(await process.exited).to.deep.equal({ code: 0, signal: null });
  }

  it('the secrets service, with entries of the audit to write and a read under way', async () => {
    await prepare('secrets', secretsMigrations);
    const process = start(['serve', 'secrets'], { Management__AdminApiKey: adminToken, Encryption__MasterKeys: masterKeys });
    const url = await urlOf(process);
    const { key, slug } = await newApplication(url);
    await putSecret(url, slug, 'password', { value: secretValue('the password of a service that is stopped') });
    expect((await consume(url, key, '/secrets/password?environment=production')).status).to.be.oneOf([200, 404]);
    postgres.mute();
    const reading = consume(url, key, '/secrets/password').catch(() => undefined);
    await stops(process);
    await reading;
  });

  it('the API of the intake, with a request under way', async () => {
    await prepare('intake', intakeMigrations);
    const process = start(['serve', 'webhook-intake'], { Intake__AccessTokens: 'the token of the tests' });
    const url = await urlOf(process);
    const ask = () => fetch(`${url}/api/v1/events`, { headers: { Authorization: 'token the token of the tests' } });
    expect((await ask()).status).to.equal(200);
    postgres.mute();
    const asking = ask().catch(() => undefined);
    await stops(process);
    await asking;
  });

  it('the intake and its workers in one process, once it is unready', async () => {
    await prepare('intake', intakeMigrations);
    const workers = ['service', 'database-service'].flatMap((worker) => ['--worker', worker]);
    const process = start(['serve', 'webhook-intake', ...workers], { Intake__AccessTokens: 'the token of the tests', BROKER_URL_1: postgres.url });
    const url = await urlOf(process);
    const readiness = async () => (await fetch(`${url}/health/ready`)).status;
    await eventually(async () => (await readiness()) === 200);
    postgres.mute();
    await eventually(async () => (await readiness()) === 503);
    await stops(process);
  });

  it('a worker of the intake, with a batch under way, which is there again', async () => {
    await prepare('intake', intakeMigrations);
    const process = start(['worker', 'service', '--loop'], { BROKER_URL_1: database.url });
    await process.waitForLine(/"msg":"connected to the embedded broker"/);
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    try {
      await broker.ready(30_000);
      postgres.mute();
      expect((await broker.publish(message({ event: 'ping', payload: { zen: 'Keep it logically awesome.' } }), 30_000)).outcome).to.equal('confirmed');
      await eventually(async () => (await broker.depth('forge')) === 0);
      await stops(process);
      await eventually(async () => (await broker.depth('forge')) === 1);
    } finally {
      await broker.close();
    }
  });

  it('a worker of the intake whose embedded broker hangs, idle and with a message on its way', async () => {
    await prepare('intake', intakeMigrations);
    const process = start(['worker', 'service', '--loop'], { DATABASE_URL: database.url, BROKER_URL_1: postgres.url });
    await process.waitForLine(/"msg":"connected to the embedded broker"/);
    postgres.mute();
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    try {
      await broker.ready(30_000);
      expect((await broker.publish(message({ event: 'ping', payload: { zen: 'Keep it logically awesome.' } }), 30_000)).outcome).to.equal('confirmed');
      await stops(process);
      expect(await broker.depth('forge')).to.equal(1);
    } finally {
      await broker.close();
    }
  });
});
