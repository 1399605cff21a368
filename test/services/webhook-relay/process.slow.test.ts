// The relay as real processes: two that share limits, a file that is watched, settings that are missing, a stop in the middle.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createPool } from '../../../services/platform/postgres/pool.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { startMuteable } from '../../support/muteable.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../support/processes.ts';
import { startSilentServer } from '../../support/silent-server.ts';
import { eventually, freePort } from '../../support/wait.ts';
import { administer, counts, deliver, migrations, secret, token } from './relay.ts';

type RelayProcess = { readonly process: RunningProcess; readonly url: string; readonly metricsUrl: string };

async function launch(databaseUrl: string, extra: Readonly<Record<string, string>>, until = /"msg":"ready"/): Promise<RelayProcess> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = {
    DATABASE_URL: databaseUrl,
    Broker__AuthToken: token,
    Forge__WebhookSecrets: secret,
    FailedPayloads__Directory: temporaryDirectory('spool'),
    APP_ENV: 'development',
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    ...extra,
  };
  const process = startProcess(['serve', 'webhook-relay'], { env });
  await process.waitForLine(until);
  return { process, url: `http://127.0.0.1:${port}`, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics` };
}

const codeOf = (error: unknown) => {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(error);
};

describe('relay processes', () => {
  let database: TestDatabase;
  const relays: RelayProcess[] = [];
  beforeEach(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
  });
  afterEach(async () => {
    await Promise.all(relays.splice(0).map(({ process }) => process.kill()));
    await database.drop();
  });
  const start = async (environment: Readonly<Record<string, string>>) => {
    const relay = await launch(database.url, environment);
    relays.push(relay);
    return relay;
  };

  it('share limits: 200 parallel deliveries at two connections limited to 50 are 100 accepted and 100 refused', async () => {
    const environment = { BROKER_URL_1: `${database.url}?schema=one`, BROKER_URL_2: `${database.url}?schema=two`, Broker__MonthlyMessageLimit: '50' };
    const [one, two] = await Promise.all([start(environment), start(environment)]);
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => deliver(index % 2 === 0 ? one.url : two.url)));
    const statuses = Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]));
    expect(statuses).to.deep.equal({ 202: 100, 503: 100 });
    const pool = createPool(database.url, { schema: 'relay', log: silentLog });
    expect(await counts(pool)).to.deep.equal({ BROKER_URL_1: 50, BROKER_URL_2: 50 });
    await pool.close();
  });

  it('follow a switch that was made on another', async () => {
    const environment = { BROKER_URL_1: `${database.url}?schema=one`, BROKER_URL_2: `${database.url}?schema=two` };
    const [one, two] = await Promise.all([start(environment), start(environment)]);
    await deliver(two.url);
    await administer(one.url, 'POST', '/Broker/switch/2');
    expect((await deliver(two.url)).body['broker']).to.equal('BROKER_URL_2');
  });

  it('watch the environment file, and may begin without a connection', async () => {
    const file = join(temporaryDirectory('environment'), 'broker.env');
    const { url, process } = await start({ Broker__EnvironmentFile: file });
    expect((await fetch(`${url}/health/ready`)).status).to.equal(200);
    expect((await deliver(url)).body['spooled']).to.equal(true);
    await writeFile(file, `BROKER_URL_1=${database.url}\nBROKER_LIMIT_1=700000\n`);
    await eventually(async () => (await deliver(url)).status === 202);
    expect((await administer(url, 'GET', '/Broker/connections')).body).to.have.nested.property('connections[0].monthlyLimit', 700_000);
    await rm(file);
    await process.waitForLine(/"level":"error".*is missing.*reloading broker connections failed/);
    expect((await deliver(url)).status).to.equal(202);
  });

  describe('whose broker does not answer', () => {
    let silent: Awaited<ReturnType<typeof startSilentServer>>;
    beforeEach(async () => {
      silent = await startSilentServer();
    });
    afterEach(() => silent.close());

    it('open their port at once, are unready while they connect, and then ready', async () => {
      const relay = await launch(database.url, { BROKER_URL_1: `amqp://user:hush@127.0.0.1:${silent.port}` }, /"msg":"listening"/);
      relays.push(relay);
      const response = await fetch(`${relay.url}/health/ready`);
      expect([response.status, await response.json()]).to.have.deep.nested.property('[1].checks.brokers', { ok: false, detail: 'connecting' });
      expect(response.status).to.equal(503);
      expect((await deliver(relay.url)).body['spooled']).to.equal(true);
      await eventually(async () => (await fetch(`${relay.url}/health/ready`)).status === 200);
    });

    it('stop in the midst of that without a word of warning, and exit 0', async () => {
      const relay = await launch(database.url, { BROKER_URL_1: `amqp://user:hush@127.0.0.1:${silent.port}` }, /"msg":"listening"/);
      relays.push(relay);
      relay.process.signal('SIGTERM');
      expect(await relay.process.exited).to.deep.equal({ code: 0, signal: null });
      const afterwards = relay.process.lines.slice(relay.process.lines.findIndex((line) => line.includes('"msg":"stopping"')) + 1);
      expect(afterwards.filter((line) => !/"level":"?(info|30|debug|20)/.test(line))).to.deep.equal([]);
      expect(afterwards.join('\n')).to.not.include('listening');
    });
  });

  it('tell usage, the active connection and deliveries in their metrics', async () => {
    const { url, metricsUrl } = await start({ BROKER_URL_1: database.url, BROKER_LIMIT_1: '9' });
    await deliver(url);
    await deliver(url, {}, { 'X-Hub-Signature-256': 'sha256=' });
    const period = new Date().toISOString().slice(0, 7);
    await eventually(async () => {
      const text = await (await fetch(metricsUrl)).text();
      for (const line of [
        `signalbox_broker_messages_used{broker="BROKER_URL_1",period="${period}"} 1`,
        `signalbox_broker_messages_limit{broker="BROKER_URL_1",period="${period}"} 9`,
        `signalbox_broker_messages_remaining{broker="BROKER_URL_1",period="${period}"} 8`,
        'signalbox_broker_active{broker="BROKER_URL_1"} 1',
        'signalbox_broker_connected{broker="BROKER_URL_1"} 1',
        'signalbox_broker_publishes_total{broker="BROKER_URL_1"} 1',
        'signalbox_relay_deliveries_total{outcome="published"} 1',
        'signalbox_relay_deliveries_total{outcome="unsigned"} 1',
      ])
        expect(text).to.include(line);
    });
  });

  it('answer requests in flight at SIGTERM, and exit 0', async () => {
    const { process, url } = await start({ BROKER_URL_1: database.url });
    let isOver = false;
    const answered: number[] = [];
    const failed: string[] = [];
    const sender = async () => {
      while (!isOver) {
        try {
          answered.push((await deliver(url)).status);
        } catch (error) {
          failed.push(codeOf(error));
          isOver = true;
        }
      }
    };
    const senders = [sender(), sender(), sender(), sender()];
    await eventually(() => answered.length > 20);
    process.signal('SIGTERM');
    expect(await process.exited).to.deep.equal({ code: 0, signal: null });
    isOver = true;
    await Promise.all(senders);
    expect(new Set(answered)).to.deep.equal(new Set([202]));
    // None was cut in the middle: the relay answered what it began to read, and each sender has its answer.
    const begun = process.lines.filter((line) => line.includes('"msg":"request"')).map((line) => Number(/"status":(\d+)/.exec(line)?.[1]));
    expect(begun).to.deep.equal(answered.map(() => 202));
    // The others came after the port was closed, or onto a connection that had been idle for too long when it was.
    expect(failed.filter((code) => !['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET'].includes(code))).to.deep.equal([]);
    const pool = createPool(database.url, { schema: 'relay', log: silentLog });
    expect(await counts(pool)).to.deep.equal({ BROKER_URL_1: answered.length });
    await pool.close();
  });

  it('stop while Postgres hangs, keep what is spooled, and exit 0', async () => {
    const postgres = await startMuteable(new URL(database.url));
    const spool = temporaryDirectory('spool');
    try {
      const relay = await launch(postgres.url, { BROKER_URL_1: database.url, FailedPayloads__Directory: spool });
      relays.push(relay);
      expect((await deliver(relay.url)).status).to.equal(202);
      postgres.mute();
      expect((await deliver(relay.url)).body['spooled']).to.equal(true);
      expect((await deliver(relay.url, {}, { 'X-Hub-Signature-256': 'sha256=00' })).status).to.equal(401);
      relay.process.signal('SIGTERM');
      expect(await relay.process.exited).to.deep.equal({ code: 0, signal: null });
      expect((await readdir(spool)).filter((name) => name.endsWith('.payload'))).to.have.length(1);
    } finally {
      postgres.close();
    }
  });

  it('refuse to start without what they need, and name all of it and no value', async () => {
    const scoring = join(temporaryDirectory('scoring'), 'scoring.yaml');
    await writeFile(scoring, 'base: { star: 99 }\nmerged: 1');
    const process = startProcess(['serve', 'webhook-relay'], {
      env: {
        METRICS_PORT: String(await freePort()),
        Broker__MonthlyMessageLimit: 'hush',
        BROKER_URL_1: 'http://user:hush@host',
        Relay__MaxBodyMemoryBytes: '2048',
        Scoring__File: scoring,
      },
    });
    expect((await process.exited).code).to.equal(1);
    const printed = process.lines.join('\n');
    for (const name of ['DATABASE_URL', 'Broker__AuthToken', 'Forge__WebhookSecrets', 'Broker__MonthlyMessageLimit', 'BROKER_URL_1'])
      expect(printed).to.include(name);
    expect(printed).to.include('Relay__MaxBodyMemoryBytes must not be below Forge__MaxPayloadBytes').and.include('Scoring__File: base.star must be');
    expect(printed).to.not.include('hush');
  });
});
