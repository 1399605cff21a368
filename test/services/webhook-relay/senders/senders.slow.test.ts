// Senders beside a Postgres server that stops and starts again.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { createSenders } from '../../../../services/webhook-relay/senders/senders.ts';
import { createSenderStore } from '../../../../services/webhook-relay/senders/store.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';

const migrations = new URL('../../../../services/webhook-relay/migrations/', import.meta.url);
const now = new Date('2026-01-02T03:00:00.000Z');

describe('senders while the database is down', () => {
  it('wait for a server that is stopped and started again', async () => {
    const server = await startPostgres();
    await migrate(server.url, { schema: 'relay', directory: migrations }, silentLog);
    const pool = createPool(server.url, { schema: 'relay', log: silentLog });
    const senders = createSenders({ store: createSenderStore(pool), frequencyFactor: () => 1, log: silentLog, clock: () => now, metrics: createMetrics() });
    const record = () => {
      for (let n = 0; n < 10; n++) senders.record('octocat', false, now);
    };
    record();
    await senders.flush();
    await server.stop();
    record();
    await senders.flush();
    expect(senders.eventsPerMinute('octocat')).to.equal(2);
    await server.start();
    await eventually(async () => (await senders.statistics())['octocat']?.eventCount === 20);
    expect(senders.eventsPerMinute('octocat')).to.equal(2);
    await senders.close();
    await pool.close();
    await server.close();
  });
});
