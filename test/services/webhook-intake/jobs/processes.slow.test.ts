// Cleanup and maintenance as processes: their results, and what remains of one that is stopped or killed.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import pg from 'pg';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { makePartitions } from '../../../../services/platform/postgres/partitions.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually } from '../../../support/wait.ts';
import { message } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

const ended = (code: number) => ({ code, signal: null });
const token = 'correct-horse-battery-staple';

describe('cleanup and maintenance as processes', function () {
  this.timeout(120_000);
  let database: IntakeDatabase;
  const started: RunningProcess[] = [];
  let holder: pg.Client;

  beforeEach(async () => {
    database = await createIntakeDatabase();
    holder = new pg.Client({ connectionString: database.url, options: '-c search_path=intake' });
    await holder.connect();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.kill()));
    await holder.end();
    await database.close();
  });

  function start(words: readonly string[], settings: Readonly<Record<string, string>> = {}): RunningProcess {
    const env = { DATABASE_URL: database.url, BROKER_URL_1: database.url, METRICS_PORT: '0', PORT: '0', APP_ENV: 'development', ...settings };
    const process = startProcess(words, { env });
    started.push(process);
    return process;
  }
  const runs = () => database.rows<{ worker: string; status: string; error: string | null }>('select worker, status, error from worker_runs order by id');
  /** Cleanup comes to this table and waits. */
  const hold = async () => {
    await holder.query('begin');
    await holder.query('lock table delivery_keys');
  };
  const isWaiting = () =>
    eventually(async () => {
      const waiting = await database.rows(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      expect(waiting).to.have.length(1);
    });

  it('do one job each, record it, and end with 0; with a line of the log for each step', async () => {
    await makePartitions(database.pool, 'events', { from: new Date('2020-01-15'), ahead: 0 });
    const both = [start(['worker', 'cleanup']), start(['worker', 'maintenance'])];
    expect(await Promise.all(both.map(({ exited }) => exited))).to.deep.equal([ended(0), ended(0)]);
    expect((await runs()).map(({ worker, status }) => `${worker} ${status}`)).to.have.members(['cleanup succeeded', 'maintenance succeeded']);
    expect(await database.rows(`select to_regclass('events_2020_01') as gone`)).to.deep.equal([{ gone: null }]);
    const steps = both[0]?.lines.filter((line) => line.includes('"step":')) ?? [];
    expect(steps.length).to.be.above(10);
    expect(JSON.parse(steps[1] ?? '')).to.include({ step: 'months of events', processed: 1, failed: 0, service: 'cleanup' });
  });

  it('run at their intervals with --loop, with the heartbeat told', async () => {
    const asked: string[] = [];
    const monitor = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.end();
    }).listen(0, '127.0.0.1');
    await once(monitor, 'listening');
    const address = `http://127.0.0.1:${(monitor.address() as AddressInfo).port}/check`;
    const loop = start(['worker', 'cleanup', '--loop'], { Heartbeat__PingUrl: address });
    await eventually(() => expect(asked).to.deep.equal(['/check/start', '/check']));
    loop.signal('SIGTERM');
    expect(await loop.exited).to.deep.equal(ended(0));
    monitor.close();
  });

  it('end with 1 when they are running already, and when a step failed', async () => {
    await hold();
    const first = start(['worker', 'cleanup']);
    await isWaiting();
    expect(await start(['worker', 'cleanup']).exited).to.deep.equal(ended(1));
    // The step that waits gives up, and the others go on.
    expect(await first.exited).to.deep.equal(ended(1));
    await holder.query('rollback');
    const [run] = await runs();
    expect(run).to.include({ status: 'failed' });
    expect(run?.error).to.contain('deduplication keys: ');
    expect(first.lines.join()).to.contain('"step":"runs of workers"');
  });

  it('end in time when they have to stop, whatever they wait for, and say in their record that they were not done', async () => {
    await hold();
    const run = start(['worker', 'cleanup']);
    await isWaiting();
    run.signal('SIGTERM');
    expect(await run.exited).to.deep.equal(ended(0));
    expect(await runs()).to.deep.equal([{ worker: 'cleanup', status: 'failed', error: 'stopped before it was done' }]);
  });

  it('end in time in a service that has to stop while it runs one', async () => {
    await hold();
    const service = start(['serve', 'webhook-intake'], { Intake__AccessTokens: token });
    const [, port] = await service.waitForLine(/"port":(\d+),"msg":"listening"/);
    const url = `http://127.0.0.1:${port}/api/v1/workers/cleanup/run`;
    const post = async () => (await fetch(url, { method: 'POST', headers: { authorization: `token ${token}` } })).status;
    expect(await post()).to.equal(202);
    await isWaiting();
    expect(await post()).to.equal(409);
    service.signal('SIGTERM');
    expect(await service.exited).to.deep.equal(ended(0));
    expect(await runs()).to.deep.equal([{ worker: 'cleanup', status: 'failed', error: 'stopped before it was done' }]);
  });

  it('leave no run that is running for ever when they are killed, and the next one runs', async () => {
    await hold();
    const killed = start(['worker', 'cleanup']);
    await isWaiting();
    await killed.kill();
    await holder.query('rollback');
    // Postgres ends the sessions of a killed process, and with them its lock, a moment later.
    await eventually(async () => {
      const locks = `select 1 from pg_locks join pg_database on pg_database.oid = database where datname = current_database() and locktype = 'advisory'`;
      expect(await database.rows(locks)).to.deep.equal([]);
    });
    expect(await runs()).to.deep.equal([{ worker: 'cleanup', status: 'running', error: null }]);
    expect(await start(['worker', 'cleanup']).exited).to.deep.equal(ended(0));
    await database.rows(`update worker_runs set held_until = now() - interval '1 second' where held_until is not null`); // a minute later
    expect(await start(['worker', 'maintenance']).exited).to.deep.equal(ended(0));
    expect((await runs()).map(({ worker, status }) => `${worker} ${status}`)).to.deep.equal(['cleanup failed', 'cleanup succeeded', 'maintenance succeeded']);
  });

  it('are not alone: the service empties a queue in a run that its API begins', async () => {
    const broker = connectBroker(database.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    expect((await broker.publish(message({ event: 'push', payload: {} }), 10_000)).outcome).to.equal('confirmed');
    await broker.close();
    const service = start(['serve', 'webhook-intake'], { Intake__AccessTokens: token });
    const [, port] = await service.waitForLine(/"port":(\d+),"msg":"listening"/);
    const begin = (worker: string) =>
      fetch(`http://127.0.0.1:${port}/api/v1/workers/${worker}/run`, { method: 'POST', headers: { authorization: `token ${token}` } });
    expect([(await begin('service')).status, (await begin('database-service')).status]).to.deep.equal([202, 202]);
    await eventually(async () => {
      const ended = await database.rows('select worker, status, processed, failed from worker_runs order by worker desc');
      expect(ended).to.deep.equal(['service', 'database-service'].map((worker) => ({ worker, status: 'succeeded', processed: 1, failed: 0 })));
    });
    expect(await database.count('events')).to.equal(1);
  });

  it('have the record of a killed run closed by the service, too', async () => {
    await database.rows(
      `insert into worker_runs (id, worker, status, started_at, processed, failed, held_until) values (gen_random_uuid(), 'cleanup', 'running', now(), 0, 0, now() - interval '1 second')`,
    );
    start(['serve', 'webhook-intake'], { Intake__AccessTokens: token });
    await eventually(async () => expect((await runs()).map(({ status }) => status)).to.deep.equal(['failed']));
  });
});
