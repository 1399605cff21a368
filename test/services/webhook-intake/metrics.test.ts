import { expect } from 'chai';
import type { BatchHandler } from '../../../services/platform/broker/broker.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createBatchWorker } from '../../../services/webhook-intake/forge/batch-worker.ts';
import { delivery } from './deliveries.ts';

const receivedAt = new Date('2026-01-02T03:04:05.000Z');
const down = () => Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));

function start(store: () => Promise<readonly boolean[]>) {
  const metrics = createMetrics();
  let now = receivedAt.getTime();
  const options = { metrics, log: silentLog, clock: () => now };
  const work: BatchHandler = createBatchWorker({ worker: 'service', queue: 'forge', read: async ({ id }) => ({ id }), store }, options);
  return {
    batch: [delivery({ event: 'push', payload: {}, receivedAt })],
    work,
    wait: (seconds: number) => (now += seconds * 1000),
    valueOf: async (series: string) => Number(new RegExp(`^${series.replaceAll(/[{}]/g, '\\$&')} (\\S+)$`, 'm').exec(await metrics.text())?.[1]),
  };
}

const oldest = 'signalbox_worker_oldest_message_seconds{worker="service"}';
const runs = (outcome: string) => `signalbox_worker_runs_total{worker="service",outcome="${outcome}"}`;

describe('the metrics of a queue worker', () => {
  it('show the age of a delivery while the worker is at it, and count the run', async () => {
    const gate = Promise.withResolvers<readonly boolean[]>();
    const { batch, work, wait, valueOf } = start(() => gate.promise);
    const running = work(batch);
    wait(90);
    expect(await valueOf(oldest)).to.equal(90);
    expect(await valueOf(runs('succeeded'))).to.equal(0);
    gate.resolve([true]);
    expect(await running).to.deep.equal(['ack']);
    expect(await valueOf(oldest)).to.equal(0);
    expect(await valueOf(runs('succeeded'))).to.equal(1);
  });

  it('go on showing it between the tries of a batch that fails, and the failure is passed on', async () => {
    let isDown = true;
    const { batch, work, wait, valueOf } = start(() => (isDown ? down() : Promise.resolve([true])));
    for (let tries = 0; tries < 3; tries++) {
      const failure = await work(batch).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error).with.property('message').that.equals('down');
      wait(5);
    }
    expect(await valueOf(oldest)).to.equal(15);
    expect(await valueOf(runs('failed'))).to.equal(3);
    isDown = false;
    await work(batch);
    expect(await valueOf(oldest)).to.equal(0);
  });

  it('forget a batch that failed and was given back', async () => {
    const { batch, work, wait, valueOf } = start(down);
    await work(batch).catch(() => undefined);
    wait(14);
    expect(await valueOf(oldest)).to.equal(14);
    wait(2);
    expect(await valueOf(oldest)).to.equal(0);
  });
});
