// Metrics of the queues, with brokers that answer as they are told.
import { expect } from 'chai';
import { createMetrics } from '../../../services/platform/metrics.ts';
import type { Connection } from '../../../services/webhook-relay/connections/connection.ts';
import { measureQueues } from '../../../services/webhook-relay/metrics.ts';

const connection = (name: string, depth: Connection['depth'], isConnected = true) => ({ target: { name }, isConnected, depth });

async function shown(...all: readonly ReturnType<typeof connection>[]): Promise<string[]> {
  const metrics = createMetrics();
  measureQueues(metrics, { all });
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('signalbox_'));
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
});
