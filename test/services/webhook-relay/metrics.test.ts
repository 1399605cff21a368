// Metrics of the queues, with obedient brokers.
import { expect } from 'chai';
import type { Broker } from '../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { openConnection } from '../../../services/webhook-relay/connections/connection.ts';
import { measureQueues } from '../../../services/webhook-relay/metrics.ts';
import { obedientBroker } from './broker.ts';

const connection = (name: string, depth: Broker['depth'], isConnected = true) => {
  const target = { name, index: 1, url: '', scheme: 'amqp', host: 'localhost', port: 5672, virtualHost: '/' };
  const connect = () => ({ ...obedientBroker, depth, isConnected });
  return openConnection({ target, connect, usable: () => undefined, clock: () => new Date(), log: silentLog });
};

async function shown(...all: readonly ReturnType<typeof connection>[]): Promise<string[]> {
  const metrics = createMetrics();
  measureQueues(metrics, { all });
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('signalbox_broker_queue_messages{'));
}

describe('measureQueues', () => {
  it('tells what waits in each queue of each connection', async () => {
    const lines = await shown(connection('BROKER_URL_1', (queue) => Promise.resolve(queue.length)));
    expect(lines).to.deep.equal(
      ['forge', 'forge-database', 'forge.dead'].map((queue) => `signalbox_broker_queue_messages{broker="BROKER_URL_1",queue="${queue}"} ${queue.length}`),
    );
  });

  it('says nothing of a connection that is away, hangs or fails, and shows the others within the scrape', async () => {
    const lines = await shown(
      connection('away', () => Promise.resolve(1), false),
      connection('hanging', () => new Promise<number>(() => undefined)),
      connection('failing', () => Promise.reject(new Error('gone'))),
      connection('standing', () => Promise.resolve(7)),
    );
    expect(lines).to.have.length(3);
    for (const line of lines) expect(line).to.match(/\{broker="standing",queue="[\w.-]+"\} 7$/);
  });

  it('tells for how long a queue has not been found empty, at every scrape', async () => {
    const metrics = createMetrics();
    const clock = { nowMs: 1000 };
    const depths = new Map<string, number>();
    let asked = 0;
    measureQueues(metrics, { all: [connection('BROKER_URL_1', (queue) => ((asked += 1), Promise.resolve(depths.get(queue) ?? 0)))] }, () => clock.nowMs);
    const ages = async () =>
      ['forge', 'forge-database'].map(async (queue) => {
        const text = await metrics.text();
        return Number(new RegExp(`^signalbox_broker_queue_oldest_message_seconds\\{broker="BROKER_URL_1",queue="${queue}"\\} (\\S+)$`, 'm').exec(text)?.[1]);
      });
    const found = async () => Promise.all(await ages());
    depths.set('forge', 5);
    expect(await found(), 'seen for the first time').to.deep.equal([0, 0]);
    clock.nowMs += 30_000;
    depths.set('forge-database', 1);
    expect(await found()).to.deep.equal([30, 30]);
    clock.nowMs += 30_000;
    depths.set('forge', 0);
    expect(await found()).to.deep.equal([0, 60]);
    clock.nowMs += 10_000;
    depths.set('forge', 1);
    expect(await found()).to.deep.equal([10, 70]);
    asked = 0;
    await metrics.text();
    expect(asked, 'both gauges share one question').to.equal(3);
  });
});
