import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { ownRabbitmq, type RabbitmqServer, startRabbitmq } from '../support/rabbitmq.ts';
import { sized } from '../support/sizes.ts';
import { eventually } from '../support/wait.ts';
import { createForge, deliverSteadily, type Flow, type Forge, loggedDeliveries, promised, startFlow, watchReadiness } from './flow.ts';

const deliveries = sized(1000, 2000);
/** Half of them within the outage, and more before and after it. */
const outageMs = 20_000;
const everyMs = (1.5 * outageMs) / deliveries;

describeWith(ownRabbitmq, 'a delivery during an outage', function () {
  this.timeout(600_000);
  let postgres: PostgresServer;
  let rabbitmq: RabbitmqServer;
  let flow: Flow;
  let forge: Forge;

  before(async () => {
    [postgres, rabbitmq] = await Promise.all([startPostgres(), startRabbitmq()]);
    flow = await startFlow({ databaseUrl: postgres.url, brokerUrls: [rabbitmq.url] });
    await flow.startWorker('service');
    await flow.startWorker('database-service');
    forge = createForge(flow.relayUrls);
  });
  after(async () => {
    forge.close();
    await flow.close();
    await Promise.all([postgres.close(), rabbitmq.close()]);
  });

  async function deliverThrough(server: { stop(): Promise<void>; start(): Promise<void> }) {
    const readiness = watchReadiness(flow.relayUrls[0] ?? '');
    const outage = async () => {
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, outageMs));
      await server.start();
    };
    const answers = await deliverSteadily(forge, { count: deliveries, everyMs, at: { [0.15 * deliveries]: outage } });
    return { answers, unready: await readiness.stop() };
  }

  /** Every promised delivery is in the event log once, and nothing twice. */
  async function expectAllLoggedOnce(ids: readonly string[]) {
    await eventually(
      async () => {
        const logged = await loggedDeliveries(postgres.url);
        const missing = ids.filter((id) => !logged.has(id));
        expect(missing.length, 'promised deliveries that are not in the event log').to.equal(0);
        expect(
          [...logged.values()].filter((times) => times !== 1),
          'deliveries that are there more than once',
        ).to.deep.equal([]);
      },
      { withinMs: 300_000, everyMs: 500 },
    );
  }

  it('is kept while RabbitMQ is away for 20 s, and is in the event log exactly once', async () => {
    const { answers, unready } = await deliverThrough(rabbitmq);
    const spooled = answers.filter(({ body }) => body['spooled'] === true);
    expect(spooled.length, 'deliveries that met the outage').to.be.greaterThan(0);
    expect(promised(answers)).to.have.length(deliveries);
    expect(unready, 'readiness answers other than 200').to.deep.equal([]);
    await expectAllLoggedOnce(promised(answers));
  });

  it('is kept while Postgres is away for 20 s, and is in the event log exactly once', async () => {
    const { answers, unready } = await deliverThrough(postgres);
    const spooled = answers.filter(({ body }) => body['spooled'] === true);
    expect(spooled.length, 'deliveries that met the outage').to.be.greaterThan(0);
    expect(promised(answers)).to.have.length(deliveries);
    expect(unready, 'readiness answers other than 200').to.deep.equal([]);
    await expectAllLoggedOnce(promised(answers));
  });
});
