// Reconciliation with a server that answers as the API of GitHub, or of Gitea and Forgejo, does, and that loses three in ten of its deliveries.
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createDatabaseServiceWorker, createIsOwn } from '../../../../services/webhook-intake/forge/database-service-worker.ts';
import { createForgeApi } from '../../../../services/webhook-intake/jobs/forge-api.ts';
import { reconcile } from '../../../../services/webhook-intake/jobs/reconcile.ts';
import { messageHeaders } from '../../../../services/webhook-relay/contract.ts';
import { delivery, type MessageParts } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { createForgeWithHistory, type Dialect } from './forge-with-history.ts';

const host = 'git.example.test';

describe('reconciliation with the API of the forge', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const store = (batch: readonly MessageParts[]) =>
    createDatabaseServiceWorker({ database: database.pool, isOwn: createIsOwn(['*/*']), metrics: createMetrics(), log: silentLog })(batch.map(delivery));

  const sees = async () => ({
    repositories: await database.rows('select full_name, private, default_branch from repositories where deleted_at is null'),
    branches: await database.rows('select name, sha from branches where deleted_at is null order by name'),
    issues: await database.rows('select number, title, state from issues where deleted_at is null order by number'),
    comments: await database.rows('select forge_id, number, body from comments where deleted_at is null order by forge_id::bigint'),
    pulls: await database.rows('select number, title, state, merged from pull_requests where deleted_at is null order by number'),
    releases: await database.rows('select tag_name, name, draft from releases where deleted_at is null order by tag_name'),
    runs: await database.rows('select run_number, status, conclusion from workflow_runs order by run_number'),
    waiting: await database.rows(`select state from (
      select processing_state as state, delivery_id from issues union all select processing_state, delivery_id from branches) rows
      where delivery_id like 'reconcile:%' and state <> 'PROCESSED'`),
  });

  for (const dialect of ['github', 'gitea', 'forgejo'] as const satisfies readonly Dialect[])
    describe(dialect, () => {
      let server: Server;
      let forge: ReturnType<typeof createForgeWithHistory>;
      let now: Date;
      beforeEach(async () => {
        forge = createForgeWithHistory({ dialect, host, seed: 7 });
        server = createServer(forge.answer).listen(0, '127.0.0.1');
        await once(server, 'listening');
        now = new Date('2026-11-25T12:00:00Z');
      });
      afterEach(() => void server.close());

      const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}${dialect === 'github' ? '' : '/api/v1'}`;
      const run = (token = 'forge-token', everyMs = 60_000) => {
        const clock = () => now;
        const api = createForgeApi({ url: url(), token: new Secret(token), clock });
        return reconcile({ api, database: database.pool, host, everyMs, log: silentLog, clock }, AbortSignal.timeout(60_000));
      };
      const deliver = (events: readonly { event: string; payload: object; at: Date }[]) =>
        store(events.map(({ event, payload, at }) => ({ event, payload, receivedAt: at, hookId: '1', headers: { [messageHeaders.forge]: dialect } })));

      it('makes the tables right in one run when three of ten deliveries are lost', async () => {
        const kept = forge.history(200, 0.7);
        await deliver(kept);
        expect(await sees()).not.to.deep.equal(forge.truth());
        const { processed, failed } = await run();
        expect(await sees()).to.deep.equal(forge.truth());
        expect(processed).to.be.above(0);
        expect(failed).to.equal(0);
      });

      it('changes nothing when nothing was lost since, and asks for what changed since the last run', async () => {
        await deliver(forge.history(100, 0.7));
        await run();
        const before = await sees();
        now = new Date(now.getTime() + 3_600_000);
        await run();
        expect(await sees()).to.deep.equal(before);
        forge.history(30, 0, now);
        now = new Date(now.getTime() + 3_600_000);
        await run();
        expect(await sees()).to.deep.equal(forge.truth());
      });

      it('leaves a newer state alone that arrived by a delivery meanwhile', async () => {
        await deliver(forge.history(60, 1));
        const stale = forge.freeze();
        await deliver(forge.history(60, 1));
        const truth = forge.truth();
        stale();
        await run();
        // Forgejo tells no run that waits, so the stale list has some that no delivery brought, and lacks newer ones.
        const told = ({ runs, ...others }: Awaited<ReturnType<typeof sees>>) => ({
          ...others,
          runs: dialect === 'forgejo' ? runs.filter(({ status }) => status === 'completed') : runs,
        });
        expect(told(await sees())).to.deep.equal(told(truth));
      });

      it('keeps the names that deliveries told of workflows, which lists of Gitea lack', async () => {
        await deliver(forge.history(60, 1));
        const unnamed = () => database.rows(`select run_number from workflow_runs where name is distinct from '${dialect === 'forgejo' ? 'ci.yml' : 'CI'}'`);
        expect(await database.count('workflow_runs')).to.be.above(0);
        expect(await unnamed()).to.deep.equal([]);
        await run();
        expect(await unnamed()).to.deep.equal([]);
      });

      it('takes what there is of a repository whose issues are switched off', async () => {
        await deliver(forge.history(1, 1));
        forge.history(60, 0);
        forge.remove({ has_issues: false }, ['/issues', '/issues/comments']);
        expect((await run()).failed).to.equal(0);
        const [{ branches, pulls, runs }, truth] = [await sees(), forge.truth()];
        expect({ branches, pulls, runs }).to.deep.equal({ branches: truth.branches, pulls: truth.pulls, runs: truth.runs });
      });

      it('takes a repository to which nothing was pushed', async () => {
        await deliver([{ event: 'repository', payload: forge.created(), at: now }]);
        forge.remove({ empty: true }, ['/pulls']);
        expect((await run()).failed).to.equal(0);
      });

      it('fails when a list is missing that the repository has', async () => {
        await deliver(forge.history(20, 1));
        forge.remove({ has_issues: true }, ['/issues']);
        expect(await run().catch((error: unknown) => error)).to.be.instanceOf(AggregateError);
      });

      it('asks for a repository at most as often as the setting says', async () => {
        await deliver(forge.history(20, 1));
        await run();
        const asked = forge.asked();
        await run();
        expect(forge.asked()).to.equal(asked);
      });

      it('fails with the path and the reason when nothing can be read, and the next run tries again', async () => {
        await deliver(forge.history(20, 1));
        const failure: unknown = await run('wrong').catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(AggregateError);
        expect(String((failure as AggregateError).errors[0])).to.match(/the forge answered 401 for repos\/.+: it does not know the token/);
        const asked = forge.asked();
        expect((await run()).failed).to.equal(0);
        expect(forge.asked()).to.be.above(asked);
      });
    });
});
