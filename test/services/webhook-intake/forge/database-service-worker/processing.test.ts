// Processing states of typed rows: NEW, PROCESSING, PROCESSED, UPDATED.
import { expect } from 'chai';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { processRows } from '../../../../../services/webhook-intake/typed/store.ts';
import { createDatabaseServiceWorker } from '../../../../../services/webhook-intake/forge/database-service-worker.ts';
import { createServiceWorker } from '../../../../../services/webhook-intake/forge/service-worker.ts';
import { delivery } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';

describe('processing of typed rows', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const parts = { metrics: createMetrics(), log: silentLog };
  const track = (one: ReturnType<typeof delivery>) => createDatabaseServiceWorker({ database: database.pool, isOwn: () => true, ...parts })([one]);
  const log = (one: ReturnType<typeof delivery>) => createServiceWorker({ database: database.pool, ...parts })([one]);
  const issue = (deliveryId: string, second: number) =>
    delivery({ event: 'issues', deliveryId, payload: { action: 'edited', issue: { id: 11, number: 3, updated_at: `2026-03-04T12:00:0${second}Z` } } });
  const state = async () => (await database.rows<{ processing_state: string }>('select processing_state from issues'))[0]?.processing_state;

  it('leaves a row NEW until the event log holds its event, and then PROCESSED', async () => {
    await track(issue('d-1', 1));
    await processRows(database.pool);
    expect(await state()).to.equal('NEW');
    await log(issue('d-1', 1));
    await processRows(database.pool);
    expect(await state()).to.equal('PROCESSED');
  });

  it('turns a processed row UPDATED by a later event, and PROCESSED again', async () => {
    for (const [id, second] of [
      ['d-1', 1],
      ['d-2', 2],
    ] as const)
      await log(issue(id, second));
    await track(issue('d-1', 1));
    await processRows(database.pool);
    await track(issue('d-2', 2));
    expect(await state()).to.equal('UPDATED');
    await processRows(database.pool);
    expect(await state()).to.equal('PROCESSED');
  });

  it('leaves a processed row alone when an older event comes late', async () => {
    await log(issue('d-2', 2));
    await track(issue('d-2', 2));
    await processRows(database.pool);
    await track(issue('d-1', 1));
    expect(await state()).to.equal('PROCESSED');
  });

  it('leaves a claimed row to its holder, and takes it over when the claim has run out', async () => {
    await log(issue('d-1', 1));
    await track(issue('d-1', 1));
    await database.rows(`update issues set processing_state = 'PROCESSING', claimed_until = now() + interval '1 minute'`);
    await processRows(database.pool);
    expect(await state()).to.equal('PROCESSING');
    await database.rows(`update issues set claimed_until = now() - interval '1 second'`);
    await processRows(database.pool);
    expect(await state()).to.equal('PROCESSED');
  });

  it('does not finish a row that has changed while it was claimed', async () => {
    await log(issue('d-1', 1));
    await track(issue('d-1', 1));
    await database.rows(`update issues set processing_state = 'PROCESSING', claimed_until = now() + interval '1 minute'`);
    await track(issue('d-2', 2));
    expect(await state()).to.equal('UPDATED');
    await processRows(database.pool);
    expect(await state()).to.equal('UPDATED');
  });
});
