// Workers by HTTP, each replica with a pool of its own on one database.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import request from 'supertest';
import { z } from 'zod';
import { createHealth } from '../../../../services/platform/health.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createIntakeApp } from '../../../../services/webhook-intake/app.ts';
import { WorkerRun } from '../../../../services/webhook-intake/contract.ts';
import type { Job } from '../../../../services/webhook-intake/jobs/runner.ts';
import { eventually } from '../../../support/wait.ts';
import { createTokenHolder, tokens } from '../dashboard/ground.ts';
import { createConformance } from '../dashboard/conformance.ts';
import { createIntakeDatabase, type IntakeDatabase, schema } from '../intake-database.ts';
import { createGatedJob, createTestWorkers } from './test-workers.ts';

const Accepted = z.strictObject({ runId: z.uuid(), worker: z.string(), status: z.literal('accepted') });
const done: Job = { name: 'maintenance', isExclusive: true, run: () => Promise.resolve() };

describe('the workers of the intake, by HTTP', () => {
  let database: IntakeDatabase;
  const pools: Pool[] = [];
  before(async () => {
    database = await createIntakeDatabase();
  });
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()));
    await database.empty();
  });
  after(() => database.close());

  function createReplica(jobs: readonly Job[]) {
    const pool = createPool(database.url, { schema, log: silentLog });
    pools.push(pool);
    const workers = createTestWorkers(pool, jobs);
    const parts = { database: pool, workers, tokenHolder: createTokenHolder(), health: createHealth(), log: silentLog, metrics: createMetrics() };
    const { handler, openapi } = createIntakeApp(parts);
    const conforms = createConformance(openapi());
    const ask = async (method: 'get' | 'post', path: string, template: string) => {
      const { status, headers, text } = await request(handler)[method](`/api/v1${path}`).set('Authorization', `token ${tokens[0]}`);
      const body: unknown = JSON.parse(text);
      conforms(`/api/v1${template}`, method, { status, mediaType: headers['content-type'] ?? '', body });
      return { status, body, location: headers['location'] };
    };
    return {
      start: (name: string) => ask('post', `/workers/${name}/run`, '/workers/{name}/run'),
      run: (id: string) => ask('get', `/workers/runs/${id}`, '/workers/runs/{runId}'),
      workers: () => ask('get', '/workers', '/workers'),
    };
  }
  const idOf = (body: unknown) => Accepted.parse(body).runId;
  const Wire = WorkerRun.extend({ startedAt: z.iso.datetime().nullable(), finishedAt: z.iso.datetime().nullable() });

  describe('POST /api/v1/workers/{name}/run', () => {
    it('answers 202 with the accepted run, and the place of its record', async () => {
      const { start } = createReplica([done]);
      const { status, body, location } = await start('maintenance');
      expect(status).to.equal(202);
      const runId = idOf(body);
      expect(body).to.deep.equal({ runId, worker: 'maintenance', status: 'accepted' });
      expect(location).to.equal(`/api/v1/workers/runs/${runId}`);
    });

    it('answers 404 to a name that no worker has', async () => {
      const { start } = createReplica([done]);
      for (const name of ['cleaning', 'MAINTENANCE', 'constructor', '%00']) expect((await start(name)).status, name).to.equal(404);
      expect(await database.count('worker_runs')).to.equal(0);
    });

    for (const name of ['cleanup', 'maintenance'] as const) {
      it(`answers 409 on every replica while ${name} is running on one, and runs it again afterwards`, async () => {
        const gated = createGatedJob({ name });
        const [one, other] = [createReplica([gated.job]), createReplica([gated.job])];
        const { body } = await one.start(name);
        await gated.begun;
        expect([(await other.start(name)).status, (await one.start(name)).status]).to.deep.equal([409, 409]);
        gated.end();
        await eventually(async () => expect(Wire.parse((await other.run(idOf(body))).body).status).to.equal('succeeded'));
        expect(await database.count('worker_runs')).to.equal(1);
        await eventually(async () => expect((await other.start(name)).status).to.equal(202));
      });
    }

    it('answers 409 to all but one of twenty requests at once, and 503 to none', async () => {
      const gated = createGatedJob();
      const { start } = createReplica([gated.job]);
      const statuses = (await Promise.all(Array.from({ length: 20 }, () => start('cleanup')))).map(({ status }) => status);
      expect(statuses.sort()).to.deep.equal([202, ...Array.from({ length: 19 }, () => 409)]);
      gated.end();
    });

    it('lets one of two replicas run that are asked at once', async () => {
      const gated = createGatedJob();
      const replicas = [createReplica([gated.job]), createReplica([gated.job])];
      const answers = await Promise.all(replicas.map(({ start }) => start('cleanup')));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([202, 409]);
      gated.end();
    });

    it('lets runs of a queue worker be side by side, and refuses with 503 what a process cannot hold', async () => {
      const gated = createGatedJob({ name: 'service', isExclusive: false });
      const { start } = createReplica([gated.job]);
      for (let run = 0; run < 8; run++) expect((await start('service')).status).to.equal(202);
      expect((await start('service')).status).to.equal(503);
      gated.end();
      await eventually(async () => expect((await start('service')).status).to.equal(202));
    });
  });

  describe('GET /api/v1/workers/runs/{runId}', () => {
    it('tells of a run while it is running, and when it has succeeded', async () => {
      const gated = createGatedJob();
      const { start, run } = createReplica([gated.job]);
      const runId = idOf((await start('cleanup')).body);
      const running = await eventually(async () => {
        const read = Wire.parse((await run(runId)).body);
        return read.status === 'running' && read;
      });
      expect(running).to.include({ runId, worker: 'cleanup', finishedAt: null, error: null });
      gated.end();
      const ended = await eventually(async () => {
        const read = Wire.parse((await run(runId)).body);
        return read.status === 'succeeded' && read;
      });
      expect(ended).to.include({ runId, worker: 'cleanup', startedAt: running.startedAt, processed: 3, failed: 1, error: null });
      expect(ended.finishedAt).to.be.a('string');
    });

    it('tells why a run has failed', async () => {
      const gated = createGatedJob();
      const { start, run } = createReplica([gated.job]);
      const runId = idOf((await start('cleanup')).body);
      gated.fail(new Error('no room \u0000left'));
      await eventually(async () => expect(Wire.parse((await run(runId)).body)).to.include({ status: 'failed', error: 'no room \uFFFDleft' }));
    });

    it('answers 404 to an id that names none', async () => {
      const { run } = createReplica([]);
      for (const id of [randomUUID(), 'none', '1', '%00']) expect((await run(id)).status, id).to.equal(404);
    });
  });

  describe('GET /api/v1/workers', () => {
    it('lists the four, how many runs of each are under way, and the newest', async () => {
      const gated = createGatedJob({ name: 'service', isExclusive: false });
      const { start, workers } = createReplica([gated.job, done]);
      const nothing = (worker: string) => ({ worker, running: 0, lastRun: null });
      const four = ['service', 'database-service', 'cleanup', 'maintenance'];
      expect((await workers()).body).to.deep.equal({ items: four.map(nothing), next: null });
      await start('service');
      const runId = idOf((await start('service')).body);
      await start('maintenance');
      const List = z.object({ items: z.array(z.object({ worker: z.string(), running: z.int(), lastRun: Wire.nullable() })) });
      await eventually(async () => {
        const { items } = List.parse((await workers()).body);
        expect(items.map(({ running }) => running)).to.deep.equal([2, 0, 0, 0]);
        expect(items[0]?.lastRun).to.include({ runId, status: 'running' });
        expect(items[3]?.lastRun).to.include({ status: 'succeeded' });
      });
      gated.end();
    });
  });
});
