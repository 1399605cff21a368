// Limits under load: never one message above them, on both kinds of broker, by one relay and by two.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { describeWith } from '../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../support/rabbitmq.ts';
import { eventually } from '../../support/wait.ts';
import { type Answer, counts, deliver, depthsBecome, migrations, startRelay, type TestRelay } from './relay.ts';

const clock = () => new Date('2026-03-15T12:00:00Z');
const period = '2026-03';

type Ground = { readonly database: TestDatabase; readonly relays: readonly TestRelay[]; close(): Promise<void> };

async function setUp(
  brokerUrls: (database: TestDatabase) => Promise<readonly string[]>,
  relayCount: number,
  extra: Readonly<Record<string, string>> = {},
): Promise<Ground> {
  const database = await createTestDatabase({ schema: 'relay', migrations });
  const environment: Record<string, string> = { Broker__MonthlyMessageLimit: '50', ...extra };
  for (const [index, url] of (await brokerUrls(database)).entries()) environment[`BROKER_URL_${index + 1}`] = url;
  const relays: TestRelay[] = [];
  for (let count = 0; count < relayCount; count++) relays.push(await startRelay({ databaseUrl: database.url, environment, clock }));
  return {
    database,
    relays,
    async close() {
      for (const relay of relays) await relay.close();
      await database.drop();
    },
  };
}

const embedded = async ({ url }: TestDatabase) => [`${url}?schema=broker_one`, `${url}?schema=broker_two`];

function describeLimits(brokerUrls: (database: TestDatabase) => Promise<readonly string[]>): void {
  for (const relayCount of [1, 2]) {
    it(`accepts exactly 100 of 200 parallel deliveries at two connections limited to 50, with ${relayCount} relay${relayCount > 1 ? 's' : ''}`, async () => {
      const ground = await setUp(brokerUrls, relayCount);
      try {
        const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => deliver(ground.relays[index % relayCount]?.url ?? '')));
        const statuses = [...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]);
        expect(Object.fromEntries(statuses)).to.deep.equal({ 202: 100, 503: 100 });
        const [relay] = ground.relays;
        if (!relay) throw new TypeError('there is a relay');
        expect(await counts(relay.database)).to.deep.equal({ BROKER_URL_1: 50, BROKER_URL_2: 50 });
        await depthsBecome(relay, 'BROKER_URL_1', 50);
        await depthsBecome(relay, 'BROKER_URL_2', 50);
      } finally {
        await ground.close();
      }
    });
  }
}

describe('limits of embedded brokers', () => describeLimits(embedded));

describeWith(rabbitmq, 'limits of RabbitMQ', () => {
  describeLimits(async () => {
    const server = await sharedRabbitmq();
    return [(await server.createVhost()).url, (await server.createVhost()).url];
  });
});

describe('POST /Forge when every connection is at its limit', () => {
  let ground: Ground;
  let relay: TestRelay;
  const alerts: Record<string, unknown>[] = [];
  const monitoring = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        alerts.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
        response.writeHead(204).end();
      });
  });
  const refusals: Answer[] = [];
  let floodMs = 0;

  before(async () => {
    await new Promise<void>((resolve) => monitoring.listen(0, '127.0.0.1', resolve));
    const { port } = monitoring.address() as AddressInfo;
    ground = await setUp(embedded, 1, { BROKER_LIMIT_1: '1', BROKER_LIMIT_2: '0', Monitoring__AlertUrl: `http://127.0.0.1:${port}/alert` });
    const [only] = ground.relays;
    if (!only) throw new TypeError('there is a relay');
    relay = only;
    await deliver(relay.url);
    const begun = performance.now();
    refusals.push(...(await Promise.all(Array.from({ length: 20 }, () => deliver(relay.url)))));
    floodMs = performance.now() - begun;
  });
  after(async () => {
    await ground.close();
    monitoring.close();
  });

  it('answers 503 with a problem whose detail names the period and each connection with its count and limit', () => {
    for (const { status, body, headers } of refusals) {
      expect(status).to.equal(503);
      expect(headers.get('content-type')).to.match(/^application\/problem\+json/);
      expect(body).to.deep.equal({
        type: 'urn:signalbox:problem:limits-reached',
        title: 'Every broker connection has reached its monthly limit',
        status: 503,
        detail: `No connection has room left in ${period}: BROKER_URL_1 (1 of 1), BROKER_URL_2 (0 of 0).`,
        period,
        connections: [
          { broker: 'BROKER_URL_1', messageCount: 1, monthlyLimit: 1 },
          { broker: 'BROKER_URL_2', messageCount: 0, monthlyLimit: 0 },
        ],
      });
    }
  });

  it('neither publishes nor spools it', async () => {
    await depthsBecome(relay, 'BROKER_URL_1', 1);
    await depthsBecome(relay, 'BROKER_URL_2', 0);
    expect(await counts(relay.database)).to.deep.equal({ BROKER_URL_1: 1 });
    expect(await relay.metrics.text()).to.match(/signalbox_spool_files(\{[^}]*\})? 0/);
  });

  it('tells the monitoring service at once, and a flood in few words', async () => {
    await eventually(() => alerts.reduce((sum, { deliveries }) => sum + Number(deliveries), 0) === 20);
    expect(alerts.length).to.be.within(1, 2 + Math.ceil(floodMs / 1000)); // one a second
    expect(alerts[0]).to.deep.include({ alert: 'broker-limits-reached', service: 'webhook-relay', period });
    expect(alerts[0]?.['connections']).to.deep.equal(refusals[0]?.body['connections']);
  });

  it('does not count for its sender, so that a redelivery counts once', async () => {
    const statistics = (await (await fetch(`${relay.url}/stats`)).json()) as Readonly<Record<string, { readonly eventCount: number }>>;
    expect(statistics['octocat']?.eventCount).to.equal(1);
  });

  it('counts it', async () => {
    expect(await relay.metrics.text()).to.include('signalbox_relay_deliveries_total{outcome="exhausted"} 20');
  });

  it('takes deliveries again once there is capacity', async () => {
    await relay.database.driver.query("update broker_usage set message_count = 0 where broker = 'BROKER_URL_1'");
    expect((await deliver(relay.url)).status).to.equal(202);
  });
});
