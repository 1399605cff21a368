// The metrics of the event log, on a real database: whichever way an event came.
import { expect } from 'chai';
import { silentLog } from '../../../services/platform/log.ts';
import { createMetrics } from '../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../services/webhook-intake/forge/service-worker.ts';
import { sentry, vercel } from '../../../services/webhook-intake/sources/sources.ts';
import { delivery } from './deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from './intake-database.ts';
import { credential, post, secrets, startIntake } from './sources/ground.ts';

describe('the metrics of the event log', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());

  it('counts events of the forge and their duplicates, and measures batches', async () => {
    const metrics = createMetrics();
    const work = createServiceWorker({ database: database.pool, metrics, log: silentLog });
    const [one, other] = [delivery({ event: 'issues', payload: {} }), delivery({ event: 'push', payload: {} })];
    await work([one, other]);
    await work([one]);
    const text = await metrics.text();
    expect(text).to.contain('signalbox_intake_events_total{source="forge",forge="github",outcome="stored"} 2\n');
    expect(text).to.contain('signalbox_intake_events_total{source="forge",forge="github",outcome="duplicate"} 1\n');
    expect(text).to.contain('signalbox_intake_batch_deliveries_sum{queue="forge"} 3\n');
    expect(text).to.contain('signalbox_intake_batch_deliveries_count{queue="forge"} 2\n');
  });

  it('counts events of direct sources and their duplicates, from 0 for each that is configured', async () => {
    const metrics = createMetrics();
    const ground = await startIntake(database.pool, [sentry, vercel], { metrics });
    const body = '{"action":"created"}';
    for (let times = 0; times < 2; times++) await post(`${ground.url}/sentry`, { body, headers: credential(sentry, secrets[0], body) });
    await post(`${ground.url}/sentry`, { body, headers: credential(sentry, 'another', body) });
    await ground.close();
    const text = await metrics.text();
    expect(text).to.contain('signalbox_intake_events_total{source="sentry",forge="",outcome="stored"} 1\n');
    expect(text).to.contain('signalbox_intake_events_total{source="sentry",forge="",outcome="duplicate"} 1\n');
    expect(text).to.contain('signalbox_intake_events_total{source="vercel",forge="",outcome="stored"} 0\n');
  });
});
