// Records of runs: kept while a run goes on, and closed when its process did not.
import { expect } from 'chai';
import { v7 as uuidv7 } from 'uuid';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { measureRuns } from '../../../../services/webhook-intake/jobs/metrics.ts';
import { createRunner, type Job } from '../../../../services/webhook-intake/jobs/runner.ts';
import { createRunStore } from '../../../../services/webhook-intake/jobs/store.ts';
import { eventually } from '../../../support/wait.ts';
import { createIntakeDatabase, type IntakeDatabase, schema } from '../intake-database.ts';
import { createGatedJob } from './test-workers.ts';

const leaseMs = 600;

describe('the runner of workers', () => {
  let database: IntakeDatabase;
  before(async () => {
    database = await createIntakeDatabase();
  });
  afterEach(() => database.empty());
  after(() => database.close());

  const stopping = new AbortController().signal;
  const metrics = createMetrics();
  const create = (pool = database.pool) => createRunner({ database: pool, log: silentLog, metrics, leaseMs });
  const records = () =>
    database.rows<{ status: string; error: string | null; processed: number }>('select status, error, processed from worker_runs order by id');
  const job = (run: Job['run'], name: Job['name'] = 'cleanup'): Job => ({ name, isExclusive: true, run });

  it('records a run that succeeds, and one that fails, which is thrown', async () => {
    expect(
      await create().run(
        job(async ({ counts }) => void (counts.processed = 7)),
        stopping,
      ),
    ).to.equal(true);
    const failure = await create()
      .run(
        job(() => Promise.reject(new Error('no disk'))),
        stopping,
      )
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error).with.property('message').that.equals('no disk');
    expect(await records()).to.deep.equal([
      { status: 'succeeded', error: null, processed: 7 },
      { status: 'failed', error: 'no disk', processed: 0 },
    ]);
    expect(await metrics.text()).to.match(/signalbox_worker_run_seconds_count\{worker="cleanup",outcome="failed"\} 1/);
  });

  it('does not run what is running elsewhere, and records nothing of it', async () => {
    const gated = createGatedJob();
    const first = create().run(gated.job, stopping);
    await gated.begun;
    const other = createPool(database.url, { schema, log: silentLog });
    expect(await create(other).run(gated.job, stopping)).to.equal(false);
    await other.close();
    gated.end();
    expect(await first).to.equal(true);
    expect(await records()).to.have.length(1);
  });

  it('renews the record of a run for as long as it takes, with its counts so far', async () => {
    const gated = createGatedJob();
    const running = create().run(gated.job, stopping);
    const heldUntil = async () => (await database.rows<{ until: Date }>('select held_until as until from worker_runs'))[0]?.until.getTime() ?? 0;
    const first = await eventually(async () => (await heldUntil()) || false);
    await eventually(async () => expect(await heldUntil()).to.be.above(first + leaseMs));
    expect(await createRunStore(database.pool).failStale()).to.equal(0);
    expect(await records()).to.deep.equal([{ status: 'running', error: null, processed: 3 }]);
    gated.end();
    await running;
  });

  it('fails the record of a run whose process ended before it did, and only that', async () => {
    const store = createRunStore(database.pool);
    const run = { worker: 'cleanup', startedAt: new Date(), finishedAt: null, processed: 0, failed: 0, error: null } as const;
    await store.save({ ...run, runId: '0198d3a5-0000-7000-8000-000000000001', status: 'running' }, 0);
    await store.save({ ...run, runId: '0198d3a5-0000-7000-8000-000000000002', status: 'accepted', startedAt: null }, 0);
    await store.save({ ...run, runId: '0198d3a5-0000-7000-8000-000000000003', status: 'running' }, 60_000);
    await store.save({ ...run, runId: '0198d3a5-0000-7000-8000-000000000004', status: 'succeeded', finishedAt: new Date() }, 0);
    await eventually(async () => expect(await store.failStale()).to.equal(2));
    expect((await records()).map(({ status }) => status)).to.deep.equal(['failed', 'failed', 'running', 'succeeded']);
    const [first] = await records();
    expect(first?.error).to.equal('its process ended before it did');
  });

  it('works while its records cannot be written, and writes them when they can', async () => {
    await database.rows('alter table worker_runs rename to hidden_runs');
    const gated = createGatedJob();
    const running = create().run(gated.job, stopping);
    await gated.begun;
    await database.rows('alter table hidden_runs rename to worker_runs');
    gated.end();
    expect(await running).to.equal(true);
    expect(await records()).to.deep.equal([{ status: 'succeeded', error: null, processed: 3 }]);
  });

  it('tells by metrics when a worker last succeeded, and whether and how long it ran last', async () => {
    measureRuns(metrics, createRunStore(database.pool));
    await create().run(
      job(() => Promise.resolve()),
      stopping,
    );
    await create()
      .run(
        job(() => Promise.reject(new Error('no'))),
        stopping,
      )
      .catch(() => undefined);
    await create().run(
      job(() => Promise.resolve(), 'maintenance'),
      stopping,
    );
    const text = await metrics.text();
    expect(text).to.match(/signalbox_worker_last_run_failed\{worker="cleanup"\} 1/);
    expect(text).to.match(/signalbox_worker_last_run_failed\{worker="maintenance"\} 0/);
    expect(text).to.match(/signalbox_worker_last_run_seconds\{worker="cleanup"\} \d/);
    const at = Number(/signalbox_worker_last_success_timestamp_seconds\{worker="cleanup"\} (\S+)/.exec(text)?.[1]);
    expect(at).to.be.closeTo(Date.now() / 1000, 60);
  });

  it('tells of no failure once a later run has gone on for ten minutes, as that of a queue worker whose process before was killed', async () => {
    const store = createRunStore(database.pool);
    measureRuns(metrics, store);
    const run = { worker: 'service', finishedAt: null, processed: 0, failed: 0, error: null } as const;
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await store.save({ ...run, runId: uuidv7(), status: 'failed', startedAt: minutesAgo(20), finishedAt: minutesAgo(15), error: 'killed' }, 60_000);
    const runId = uuidv7();
    for (const [minutes, failed] of [
      [9, 1],
      [11, 0],
    ] as const) {
      await store.save({ ...run, runId, status: 'running', startedAt: minutesAgo(minutes) }, 60_000);
      expect(await metrics.text()).to.include(`signalbox_worker_last_run_failed{worker="service"} ${failed}\n`);
    }
  });
});
