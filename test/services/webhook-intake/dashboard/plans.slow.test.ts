// What each question costs on 100 000 rows: it goes by an index and reads about a page, however long the list.
import { expect } from 'chai';
import type { Database } from '../../../../services/platform/postgres/pool.ts';
import { makePartitions } from '../../../../services/platform/postgres/partitions.ts';
import { createDashboardStore } from '../../../../services/webhook-intake/dashboard/store.ts';
import { typedTables } from '../../../../services/webhook-intake/typed/tables.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { explaining, type Plans } from './explaining.ts';

const rows = 100_000;
const limit = 50;
/** A page, what else of a rare kind has to be sorted for it, and no more. */
const mostRead = 3000;

describe('the questions of the dashboard on 100 000 rows', () => {
  let intake: IntakeDatabase;
  let plans: Plans;
  let database: Database;

  before(async function () {
    this.timeout(120_000);
    intake = await createIntakeDatabase();
    await makePartitions(intake.pool, 'events', { from: new Date('2026-01-15'), ahead: 5 });
    await fill(intake);
    plans = explaining(intake.pool.driver);
    database = plans.database;
  });
  after(() => intake.close());

  const store = () => createDashboardStore(database);
  const cost = async (ask: () => Promise<unknown>) => {
    plans.clear();
    await ask();
    expect(plans.scans, 'scans').not.to.be.empty;
    expect(plans.sequential()).to.deep.equal([]);
    return plans.mostRead();
  };

  describe('events', () => {
    const middle = { limit, after: [Date.UTC(2026, 3, 1), '0198d3a5-0000-7000-8000-000000000000'] as const };
    const filters = {
      none: {},
      source: { source: 'forge' },
      'a rare source': { source: 'sentry' },
      event: { event: 'push' },
      'a rare event': { event: 'rare' },
      'source and event': { source: 'forge', event: 'push' },
      repository: { repository: 'railway/r7' },
      sender: { sender: 's7' },
      'repository and number': { repository: 'railway/r7', number: 7 },
      'a span of time': { from: new Date('2026-02-01'), to: new Date('2026-02-02') },
      'all of them': { source: 'forge', event: 'push', repository: 'railway/r7', sender: 's7', from: new Date('2026-01-01'), to: new Date('2026-07-01') },
    };
    for (const [name, filter] of Object.entries(filters)) {
      it(`by ${name}`, async () => expect(await cost(() => store().newestEvents(filter, { limit }))).to.be.below(mostRead));
      it(`by ${name}, from the middle on`, async () =>
        expect(await cost(() => store().newestEvents(filter, { limit, after: [...middle.after] }))).to.be.below(mostRead));
    }
    it('by id', async () => {
      const [event] = await intake.rows<{ id: string; received_at: Date }>('select id, received_at from events limit 1');
      expect(await cost(() => store().event(event?.id ?? ''))).to.be.at.most(1);
    });
    it('about a pull request', async () => expect(await cost(() => store().knowsPullRequest('railway/r7', 7))).to.be.below(mostRead));
    it('by senders', async () => expect(await cost(() => store().senders('s3', limit + 1))).to.be.below(mostRead));
    it('in buckets of a span of time', async () =>
      expect(await cost(() => store().buckets({ from: new Date('2026-02-01'), to: new Date('2026-02-08') }))).to.be.below(mostRead));
  });

  describe('typed rows', () => {
    const after = [Date.UTC(2026, 3, 1), '0198d3a5-0000-7000-8000-000000000000'] as [number, string];
    const filters = {
      none: {},
      repository: { repository: 'railway/r7' },
      state: { state: 'open' },
      sender: { sender: 's7' },
      'what is processed': { processingState: 'PROCESSED' },
      'what is not': { processingState: 'NEW' },
      'what is deleted': { deleted: 'true' as const },
      'what is there': { deleted: 'false' as const },
      several: { repository: 'railway/r7', state: 'open', sender: 's7', deleted: 'false' as const },
    };
    for (const [name, filter] of Object.entries(filters)) {
      it(`by ${name}`, async () => expect(await cost(() => store().newestRows(typedTables.issues, { ...filter, limit }))).to.be.below(mostRead));
      it(`by ${name}, from the middle on`, async () =>
        expect(await cost(() => store().newestRows(typedTables.issues, { ...filter, limit, after }))).to.be.below(mostRead));
    }
    for (const filter of [{ status: 'queued' }, { conclusion: 'failure' }, { sender: 's7' }])
      it(`workflow runs by ${Object.keys(filter).join()}`, async () =>
        expect(await cost(() => store().newestRows(typedTables.workflowRuns, { ...filter, limit }))).to.be.below(mostRead));
    it('not yet processed', async () => {
      const states = ['NEW', 'PROCESSING', 'UPDATED', 'RE_REQUESTED'] as const;
      expect(await cost(() => store().rowsInStates(typedTables.issues, { states, limit, after: undefined }))).to.be.below(mostRead);
    });
    it('that are processed, by first sight', async () =>
      expect(await cost(() => store().rowsInStates(typedTables.issues, { states: ['PROCESSED'], limit, after: undefined }))).to.be.below(mostRead));
    it('of one pull request', async () => expect(await cost(() => store().pullRequest('railway/r7', 7))).to.be.below(mostRead));
    it('counted by state, each row once and those that wait twice', async () => {
      plans.clear();
      await store().processingCounts();
      const filled = 3;
      expect(plans.scans.reduce((sum, { read }) => sum + read, 0)).to.equal(filled * (rows + rows / 400));
    });
  });
});

async function fill(intake: IntakeDatabase): Promise<void> {
  await intake.rows(`
    insert into events (id, source, event, repository, number, sender, delivery_id, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers)
    select gen_random_uuid(), case when n % 1000 = 0 then 'sentry' else 'forge' end, case when n % 1000 = 1 then 'rare' when n % 3 = 0 then 'push' else 'issues' end,
      'railway/r' || n % 200, n % 1000, 's' || n % 500, n::text, '1', '2', 5, true, 100, timestamptz '2026-01-01Z' + n * interval '150 seconds', now(), '{}'
    from generate_series(1, ${rows}) n`);
  await intake.rows(
    `insert into statistics_buckets select timestamptz '2024-01-01Z' + (n / 40) * interval '6 hours', 'forge', 'e' || n % 40, 1, 0, 1 from generate_series(1, ${rows}) n`,
  );
  const shared =
    'id, object_key, forge_id, repository, processing_state, first_seen_at, updated_at, event_received_at, deleted_at, delivery_id, hook_id, target_id, rest';
  const values = `gen_random_uuid(), n::text, n::text, 'railway/r' || n % 200, case when n % 400 = 0 then 'NEW' else 'PROCESSED' end, now(),
    timestamptz '2026-01-01Z' + n * interval '150 seconds', now(), case when n % 1000 = 0 then now() end, n::text, '1', '2', '{}'`;
  const from = `from generate_series(1, ${rows}) n`;
  await intake.rows(
    `insert into issues (${shared}, number, state, user_login) select ${values}, n, case when n < 100 then 'open' else 'closed' end, 's' || n % 500 ${from}`,
  );
  await intake.rows(`insert into pull_requests (${shared}, number, state, user_login) select ${values}, n, 'open', 's' || n % 500 ${from}`);
  await intake.rows(
    `insert into workflow_runs (${shared}, status, conclusion, actor_login) select ${values}, case when n < 100 then 'queued' else 'completed' end, case when n < 1000 then 'failure' else 'success' end, 's' || n % 500 ${from}`,
  );
  await intake.rows('vacuum analyze');
}
