// Partitions of the event log: made ahead, filled from the net, dropped by the month.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { dropPartitionsBefore, makePartitions } from '../../../../services/platform/postgres/partitions.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { partitionedTables } from '../../../../services/webhook-intake/jobs/housekeeping.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

describe('partitions of the event log', () => {
  let database: IntakeDatabase;
  beforeEach(async () => (database = await createIntakeDatabase()));
  afterEach(() => database.close());

  const now = new Date('2026-11-21T12:00:00Z');
  const worker = () => createServiceWorker({ database: database.pool, metrics: createMetrics(), log: silentLog });
  const store = (month: string) => worker()([delivery({ event: 'push', payload: {}, receivedAt: new Date(`${month}-15T12:00:00Z`) })]);
  const make = async () => {
    for (const table of partitionedTables) await makePartitions(database.pool, table, now);
  };
  const places = (table: string) => database.rows<{ place: string }>(`select tableoid::regclass::text as place from ${table} order by received_at`);

  it('takes a row of any month before there is a partition for it', async () => {
    expect(await store('2031-01')).to.deep.equal(['ack']);
    expect(await places('events')).to.deep.equal([{ place: 'events_default' }]);
  });

  it('are there for this month and two ahead, and take over what the net had caught', async () => {
    for (const month of ['2026-11', '2027-01', '2027-02']) await store(month);
    await make();
    await make();
    for (const month of ['2026-12', '2027-01']) await store(month);
    const expected = ['2026_11', '2026_12', '2027_01', '2027_01', 'default'];
    expect(await places('events')).to.deep.equal(expected.map((month) => ({ place: `events_${month}` })));
    expect(await places('event_payloads')).to.deep.equal(expected.map((month) => ({ place: `event_payloads_${month}` })));
  });

  it('can be made while events of their month are being stored', async () => {
    const storing = new AbortController();
    let stored = 0;
    const loop = async () => {
      const work = worker();
      while (!storing.signal.aborted) {
        const batch = Array.from({ length: 20 }, () => delivery({ event: 'push', payload: {}, receivedAt: now }));
        const outcomes = await work(batch);
        stored += outcomes.filter((outcome) => outcome === 'ack').length;
      }
    };
    const loops = [loop(), loop()];
    await make();
    storing.abort();
    await Promise.all(loops);
    expect(await database.count('events')).to.equal(stored);
    expect(await database.count('events_2026_11')).to.equal(stored);
  });

  it('are dropped by whole months, and a key still knows a delivery whose event is gone', async () => {
    await make();
    const one = delivery({ event: 'push', payload: {}, receivedAt: new Date('2026-11-15T12:00:00Z') });
    await worker()([one, delivery({ event: 'push', payload: {}, receivedAt: new Date('2026-12-01T00:00:00Z') })]);
    expect(await dropPartitionsBefore(database.pool, 'events', new Date('2026-11-30T00:00:00Z'))).to.deep.equal([]);
    expect(await dropPartitionsBefore(database.pool, 'events', new Date('2026-12-01T00:00:00Z'))).to.deep.equal(['events_2026_11']);
    expect(await worker()([one])).to.deep.equal(['ack']);
    expect(await database.count('events')).to.equal(1);
  });
});
