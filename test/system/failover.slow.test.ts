// Postgres fails over to its synchronous standby under load, again and again: nothing accepted is lost, doubled or above a limit.
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { adminToken, masterKeys, newApplication } from '../services/secrets/service.ts';
import { describeWith } from '../support/need.ts';
import { type PostgresPair, type PrimaryLoss, replicatedPostgres, startPostgresPair } from '../support/postgres-pair.ts';
import { type RunningProcess, startProcess } from '../support/processes.ts';
import { ownRabbitmq, type RabbitmqServer, startRabbitmq } from '../support/rabbitmq.ts';
import { eventually, freePort } from '../support/wait.ts';
import { createForge, type Flow, type Forge, promised, startFlow, watchReadiness } from './flow.ts';
import { bindWitness, countWitnessed, expectLoggedOnce, gapsOf, startDeliveries, startSecret, usageOf } from './steady-load.ts';

/** The promise is tried by `TEST_FAILOVERS=20`. */
const rounds = Number(process.env['TEST_FAILOVERS'] ?? 2);
const everyMs = 25;
const outageMs = 3000;
/** The first connection reaches it under load; then deliveries go to the queues in Postgres, which fails over itself. */
const limit = 250 * rounds;

const need = { name: 'Postgres failover', missing: replicatedPostgres.missing ?? ownRabbitmq.missing };

describeWith(need, `${rounds} failovers of Postgres`, function () {
  this.timeout(rounds * 90_000 + 120_000);
  let postgres: PostgresPair;
  let rabbitmq: RabbitmqServer;
  let flow: Flow;
  let forge: Forge;
  let secrets: { readonly process: RunningProcess; readonly url: string };

  before(async () => {
    [postgres, rabbitmq] = await Promise.all([startPostgresPair(), startRabbitmq()]);
    const settings = { BROKER_LIMIT_1: String(limit) };
    flow = await startFlow({ databaseUrl: postgres.url, brokerUrls: [rabbitmq.url, postgres.url], relays: 2, settings });
    await Promise.all([flow.startWorker('service'), startSecrets()]);
    forge = createForge(flow.relayUrls);
  });
  after(async () => {
    forge.close();
    await Promise.all([flow.close(), secrets.process.kill()]);
    await Promise.all([postgres.close(), rabbitmq.close()]);
  });

  async function startSecrets(): Promise<void> {
    const port = String(await freePort());
    const settings = { Management__AdminApiKey: adminToken, Encryption__MasterKeys: masterKeys };
    const env = { DATABASE_URL: postgres.url, APP_ENV: 'development', PORT: port, METRICS_PORT: '0', ...settings };
    const process = startProcess(['serve', 'secrets'], { env });
    await process.waitForLine(/"msg":"ready"/);
    secrets = { process, url: `http://127.0.0.1:${port}` };
  }

  it('lose no accepted delivery and no stored secret, double none, and pass no limit', async () => {
    await bindWitness(rabbitmq.url, 'classic');
    const [relayUrl = ''] = flow.relayUrls;
    const deliveries = startDeliveries(forge, everyMs);
    const secret = startSecret(secrets.url, await newApplication(secrets.url));
    const readiness = flow.relayUrls.map(watchReadiness);
    const acceptedSince = (since: number) => deliveries.accepted().filter(({ at }) => at > since).length;
    const stored = () => secret.seen.filter(({ status }) => status === 200);

    for (let round = 0; round < rounds; round++) {
      const loss: PrimaryLoss = round % 2 === 0 ? 'silent' : 'killed';
      const beganAt = performance.now();
      await eventually(() => acceptedSince(beganAt) > 40);
      const lostAt = performance.now();
      const backAt = await postgres.failOver(loss, outageMs);
      await eventually(() => acceptedSince(backAt) > 40, { withinMs: 60_000 });
      await eventually(() => stored().filter(({ at }) => at > backAt).length > 40, { withinMs: 60_000 });
      await postgres.replaceStandby();
      await pause(1000);
      const now = performance.now();
      const [relay, reads] = [gapsOf(deliveries.accepted(), backAt, now), gapsOf(stored(), backAt, now)];
      const away = Math.round(backAt - lostAt);
      process.stdout.write(
        `      ${loss}, away ${away} ms: next 202 after ${relay.first} ms, longest gap ${relay.longest} ms; secrets ${reads.first} and ${reads.longest} ms\n`,
      );
    }
    await eventually(async () => (await usageOf(relayUrl))['BROKER_URL_1'] === limit, { withinMs: 60_000, everyMs: 500 });
    await Promise.all([deliveries.stop(), secret.stop()]);

    const { answers } = deliveries;
    await expectLoggedOnce(postgres.url, promised(answers));
    expect(promised(answers).length, 'deliveries that were answered otherwise').to.equal(answers.length);
    expect((await Promise.all(readiness.map(({ stop }) => stop()))).flat(), 'readiness of the relays').to.deep.equal([]);
    const counts = await usageOf(relayUrl);
    expect(counts['BROKER_URL_1'], 'reserved on RabbitMQ').to.equal(limit);
    expect(await countWitnessed(rabbitmq.url), 'published on RabbitMQ')
      .to.be.at.most(limit)
      .and.above(0.9 * limit);
    expect(counts['BROKER_URL_2'], 'reserved on the queues in Postgres').to.be.above(0);

    expect(secret.stale).to.deep.equal([]);
    const refused = secret.seen.filter(({ status }) => status >= 300);
    expect(new Set(refused.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).to.deep.equal(new Set(['503 5']));
    // A machine that is busy may take longer to connect than the client waits, which says nothing of the service.
    expect(secret.unanswered.filter((reason) => reason !== 'UND_ERR_CONNECT_TIMEOUT')).to.deep.equal([]);
    for (const relay of flow.relays) await relay.waitForLine(/database unavailable/);
  });
});
