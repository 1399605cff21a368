// Dead letters that maintenance sends back by itself, on both brokers.
import { expect } from 'chai';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { createBrokerSettings } from '../../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { isDueForReturn, returnDeadLetters } from '../../../../services/webhook-intake/jobs/dead-letters.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { type Place, useBroker } from '../../../support/broker.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase } from '../../../support/postgres.ts';
import { rabbitmq, sharedRabbitmq } from '../../../support/rabbitmq.ts';
import { eventually, freePort } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';

const minuteMs = 60_000;
const inDays = (days: number) => new Date(Date.now() + days * 24 * 60 * minuteMs);
// Without retries a delivery is given up at once; the queues are the same.
const topology = { ...forgeTopology, queues: forgeTopology.queues.map((queue) => ({ ...queue, retryDelaysMs: [] })) };

describe('isDueForReturn', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const dead = (minutesAgo: number, headers: Readonly<Record<string, string>> = {}) => ({
    headers: { 'x-dead-cause': 'failed', 'x-dead-at': new Date(now - minutesAgo * minuteMs).toISOString(), ...headers },
  });

  it('waits longer after each return, and gives up after three', () => {
    for (const [returns, minutes] of [10, 60, 360].entries()) {
      const headers = { 'x-dead-returns': String(returns) };
      expect([isDueForReturn(dead(minutes - 1, headers), now), isDueForReturn(dead(minutes, headers), now)]).to.deep.equal([false, true]);
    }
    expect(isDueForReturn(dead(1e6, { 'x-dead-returns': '3' }), now)).to.equal(false);
  });

  it('leaves what was refused at once, what does not say why, and what does not say when', () => {
    for (const headers of [{ 'x-dead-cause': 'refused' }, { 'x-dead-cause': '' }, { 'x-dead-at': 'yesterday' }])
      expect(isDueForReturn(dead(1e6, headers), now)).to.equal(false);
  });
});

function suite(createPlace: () => Promise<Place>): void {
  const queues = useBroker(createPlace, topology);

  async function runs(clock: () => Date, more: Readonly<Record<string, string>> = {}, limits: { readonly lookAt?: number } = {}) {
    const counts = { processed: 0, failed: 0 };
    const config = { environmentFile: undefined, queueType: 'classic' } as const;
    const stopping = new AbortController().signal;
    await returnDeadLetters({
      brokers: createBrokerSettings({ BROKER_URL_1: queues.url, ...more }, undefined, silentLog),
      config,
      counts,
      stopping,
      log: silentLog,
      clock,
      ...limits,
    }).catch((error: unknown) => (counts.failed = error instanceof AggregateError ? error.errors.length : NaN));
    return counts;
  }

  it('sends back what failed a bounded number of times, and never what was refused', async function () {
    this.timeout(120_000);
    const { broker } = queues;
    const tries: string[] = [];
    const reasons = { forge: { retry: 'out of memory' }, 'forge-database': { deadLetter: 'the payload is not JSON' } } as const;
    const consumers = Object.entries(reasons).map(([queue, outcome]) =>
      broker.consume(queue, { batchSize: 1, prefetch: 1 }, (batch) => {
        tries.push(queue);
        return Promise.resolve(batch.map(() => outcome));
      }),
    );
    await broker.publish(message({ event: 'issues', payload: {} }), 10_000);
    const died = () => eventually(async () => expect(await broker.depth('forge.dead')).to.equal(2), { withinMs: 60_000 });
    await died();
    expect(await runs(() => new Date())).to.deep.equal({ processed: 0, failed: 0 });
    for (const processed of [1, 1, 1, 0]) {
      expect(await runs(() => inDays(1))).to.deep.equal({ processed, failed: 0 });
      await died();
    }
    expect(tries.toSorted()).to.deep.equal([...Array<string>(4).fill('forge'), 'forge-database']);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });

  it('goes on to the other connections when one cannot be reached', async function () {
    this.timeout(120_000);
    const { broker } = queues;
    await broker.dropDeadLetters({ limit: 100 });
    const consumer = broker.consume('forge', { batchSize: 1, prefetch: 1 }, (batch) => Promise.resolve(batch.map(() => ({ retry: 'out of memory' }))));
    await broker.publish(message({ event: 'issues', payload: {} }), 10_000);
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(1), { withinMs: 60_000 });
    await consumer.stop();
    const away = new URL(queues.url);
    away.port = String(await freePort());
    expect(await runs(() => inDays(1), { BROKER_URL_1: away.href, BROKER_URL_2: queues.url })).to.deep.equal({ processed: 1, failed: 1 });
  });

  it('looks at a bounded number of a pile that stays, and goes on to the next connection', async function () {
    this.timeout(120_000);
    const places = [await createPlace(), await createPlace()] as const;
    const brokers = places.map(({ url }) => connectBroker(url, topology, { log: silentLog, name: 'test' }));
    const depths = () => Promise.all(brokers.map((broker) => broker.depth('forge.dead')));
    try {
      for (const [index, broker] of brokers.entries()) {
        await broker.ready(60_000);
        let handled = 0;
        const consumer = broker.consume('forge', { batchSize: 1, prefetch: 1 }, (batch) => {
          handled += 1;
          return Promise.resolve(batch.map(() => (index === 0 && handled <= 3 ? { deadLetter: 'the payload is not JSON' } : { retry: 'out of memory' })));
        });
        for (let count = index === 0 ? 4 : 1; count > 0; count -= 1) await broker.publish(message({ event: 'issues', payload: {} }), 10_000);
        await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(index === 0 ? 4 : 1), { withinMs: 60_000 });
        await consumer.stop();
      }
      const both = { BROKER_URL_1: places[0].url, BROKER_URL_2: places[1].url };
      expect(await runs(() => inDays(1), both, { lookAt: 3 })).to.deep.equal({ processed: 1, failed: 0 });
      expect(await depths()).to.deep.equal([4, 0]);
      expect(await runs(() => inDays(1), both, { lookAt: 4 })).to.deep.equal({ processed: 1, failed: 0 });
      expect(await depths()).to.deep.equal([3, 0]);
    } finally {
      await Promise.all(brokers.map((broker) => broker.close()));
      await Promise.all(places.map((place) => place.drop()));
    }
  });
}

describe('dead letters that maintenance returns, on the embedded broker', () => suite(() => createTestDatabase()));
describeWith(rabbitmq, 'dead letters that maintenance returns, on RabbitMQ', () => suite(async () => (await sharedRabbitmq()).createVhost()));
