// One run of a queue worker whose queue never gets empty, on a real embedded broker.
import { expect } from 'chai';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { createBrokerSettings } from '../../../../services/platform/broker/environment.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { readWorkerConfig } from '../../../../services/webhook-intake/config.ts';
import { createQueueJobs } from '../../../../services/webhook-intake/forge/queue-worker.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { eventually } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';
import { createIntakeDatabase } from '../intake-database.ts';

describe('one run of a queue worker', () => {
  it('ends after five minutes although more comes in all the time, and has succeeded', async function () {
    this.timeout(60_000);
    const database = await createIntakeDatabase();
    const publisher = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    await publisher.ready(30_000);
    const publish = () => publisher.publish(message({ event: 'push', payload: {} }), 10_000);
    const [fiveMinutes, timeouts] = [new AbortController(), [] as number[]];
    const environment = { DATABASE_URL: database.url, BROKER_URL_1: database.url };
    const { drain } = createQueueJobs(
      {
        name: 'service',
        summary: '',
        queue: 'forge',
        create: () => ({
          handle: async (batch) => {
            await publish();
            return batch.map(() => 'ack');
          },
        }),
      },
      {
        database: database.pool,
        checkSchema: () => Promise.resolve({ ok: true, detail: '' }),
        config: await readWorkerConfig(environment),
        brokers: () => createBrokerSettings(environment, undefined, silentLog),
        metrics: createMetrics(),
        log: silentLog,
        timeout: (ms) => {
          timeouts.push(ms);
          return fiveMinutes.signal;
        },
      },
    );
    const counts = { processed: 0, failed: 0 };
    try {
      await publish();
      let isOver = false;
      const run = drain.run({ counts, stopping: new AbortController().signal }).finally(() => (isOver = true));
      await eventually(() => counts.processed >= 5, { withinMs: 30_000 });
      expect([isOver, timeouts]).to.deep.equal([false, [300_000]]);
      fiveMinutes.abort();
      await run;
      expect(counts.failed).to.equal(0);
      await eventually(async () => (await publisher.depth('forge')) > 0);
    } finally {
      fiveMinutes.abort();
      await publisher.close();
      await database.close();
    }
  });
});
