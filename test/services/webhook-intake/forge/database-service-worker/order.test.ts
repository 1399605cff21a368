// The database-service worker on a real database: the newest state wins, in whatever order events come.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { silentLog } from '../../../../../services/platform/log.ts';
import { createMetrics } from '../../../../../services/platform/metrics.ts';
import { createDatabaseServiceWorker, createIsOwn } from '../../../../../services/webhook-intake/forge/database-service-worker.ts';
import { delivery } from '../../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../../intake-database.ts';
import { at, branch, forgeTime, issue, push, repository, run, sender } from './forge-payloads.ts';

describe('the database-service worker, on events out of order', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const worker = (globs: readonly string[] = ['*/*']) =>
    createDatabaseServiceWorker({ database: database.pool, isOwn: createIsOwn(globs), metrics: createMetrics(), log: silentLog });
  const send = (...batch: Parameters<typeof delivery>[0][]) => worker()(batch.map(delivery));
  const stateOf = async (table: string, columns: string) => (await database.rows(`select ${columns} from ${table} order by object_key`))[0];

  it('never lets an older event overwrite a newer state, in batches or within one', async () => {
    await send(issue(5, 'fifth'));
    await send(issue(3, 'third'));
    expect(await stateOf('issues', 'title')).to.deep.equal({ title: 'fifth' });
    await send(issue(9, 'ninth'), issue(7, 'seventh'), issue(8, 'eighth'));
    expect(await stateOf('issues', 'title')).to.deep.equal({ title: 'ninth' });
  });

  it('settles two events of the same second by their reception', async () => {
    const same = issue(5, 'first');
    await send({ ...same, receivedAt: new Date(at(5).getTime() + 20), payload: { ...same.payload, issue: { ...same.payload.issue, title: 'second' } } });
    await send(same);
    expect(await stateOf('issues', 'title')).to.deep.equal({ title: 'second' });
  });

  it('keeps a tombstone, so that a late older event does not bring the object back', async () => {
    await send(issue(5, 'edited'));
    // The forge does not touch updated_at when it deletes.
    await send({ ...issue(5, 'edited', 'deleted'), receivedAt: at(8) });
    await send({ ...issue(5, 'edited late'), receivedAt: at(9) });
    expect(await stateOf('issues', 'deleted_at, title')).to.deep.equal({ deleted_at: at(8), title: 'edited' });
  });

  it('keeps a tombstone of an object that was deleted before anything else of it came', async () => {
    await send({ ...issue(5, 'gone', 'deleted'), receivedAt: at(8) });
    await send(issue(4, 'opened', 'opened'));
    expect(await stateOf('issues', 'deleted_at, title')).to.deep.equal({ deleted_at: at(8), title: 'gone' });
  });

  it('follows a branch through creation, push, deletion and a new creation, by the time of reception', async () => {
    await send(push(2, 'c'.repeat(40)), branch('create', 1));
    expect(await stateOf('branches', 'name, sha, deleted_at')).to.deep.equal({ name: 'red', sha: 'c'.repeat(40), deleted_at: null });
    await send(branch('delete', 4));
    await send(push(3, 'd'.repeat(40)));
    // Its last head was the one of the late push, as if all had come in order.
    expect(await stateOf('branches', 'sha, deleted_at')).to.deep.equal({ sha: 'd'.repeat(40), deleted_at: at(4) });
    await send(branch('create', 6));
    expect(await stateOf('branches', 'name, deleted_at, master_branch')).to.deep.equal({ name: 'red', deleted_at: null, master_branch: 'main' });
  });

  it('puts the attempt of a workflow run before its time', async () => {
    await send(run(2, 4, 'queued'), run(1, 6, 'completed'));
    expect(await stateOf('workflow_runs', 'run_attempt, status')).to.deep.equal({ run_attempt: 2, status: 'queued' });
  });

  it('marks a rerun, and the pull request of a check that is asked for again, as RE_REQUESTED', async () => {
    await send(run(1, 1, 'completed'));
    await send(run(2, 2, 'queued'));
    expect(await stateOf('workflow_runs', 'processing_state')).to.deep.equal({ processing_state: 'RE_REQUESTED' });
    await send({ event: 'pull_request', payload: { action: 'opened', pull_request: { id: 21, number: 4, updated_at: forgeTime(1) }, repository, sender } });
    await send({
      event: 'check_run',
      payload: {
        action: 'rerequested',
        check_run: {
          id: 1,
          pull_requests: [
            { id: 21, number: 4 },
            { id: 22, number: 5 },
          ],
        },
        repository,
        sender,
      },
    });
    expect(await database.rows('select forge_id, processing_state from pull_requests')).to.deep.equal([{ forge_id: '21', processing_state: 'RE_REQUESTED' }]);
  });

  it('discards a delivery that comes again, even with a new time of reception', async () => {
    const deliveryId = randomUUID();
    await send({ ...branch('delete', 1), deliveryId });
    await send(branch('create', 2));
    expect(await send({ ...branch('delete', 3), deliveryId })).to.deep.equal(['ack']);
    expect(await stateOf('branches', 'deleted_at')).to.deep.equal({ deleted_at: null });
  });
});
