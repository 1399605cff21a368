import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createLifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { createRuntimes } from '../../../../services/platform/process/runtime.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { createHeartbeat, withHeartbeat } from '../../../../services/webhook-intake/jobs/heartbeat.ts';
import { createJobWorker } from '../../../../services/webhook-intake/jobs/job-worker.ts';
import type { Job } from '../../../../services/webhook-intake/jobs/runner.ts';
import { captureLog } from '../../../platform/captured-log.ts';
import { migrations, schema } from '../intake-database.ts';

describe('the heartbeat of cleanup', () => {
  let monitor: Server;
  let asked: string[];
  let statuses: number[];
  beforeEach(async () => {
    asked = [];
    statuses = [];
    monitor = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(statuses.shift() ?? 200).end('OK');
    }).listen(0, '127.0.0.1');
    await once(monitor, 'listening');
  });
  afterEach(() => void monitor.close());

  const { log, text } = captureLog();
  const url = (path: string) => new Secret(`http://127.0.0.1:${(monitor.address() as AddressInfo).port}${path}`);
  const context = () => ({ counts: { processed: 0, failed: 0 }, stopping: new AbortController().signal });
  const job = (run: Job['run']): Job => ({ name: 'cleanup', isExclusive: true, run });

  it('is pinged when the job begins and when it has succeeded', async () => {
    const seen: number[] = [];
    await withHeartbeat(
      job(async () => void seen.push(asked.length)),
      createHeartbeat(url('/secret-id'), log),
    ).run(context());
    expect(asked).to.deep.equal(['/secret-id/start', '/secret-id']);
    expect(seen).to.deep.equal([1]);
  });

  it('is pinged when the job has failed, which is thrown', async () => {
    const run = withHeartbeat(
      job(() => Promise.reject(new Error('no disk'))),
      createHeartbeat(url('/secret-id/?rid=1'), log),
    ).run(context());
    expect(await run.catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(asked).to.deep.equal(['/secret-id/start?rid=1', '/secret-id/fail?rid=1']);
  });

  it('is asked again when the monitor fails, and not when it refuses', async () => {
    statuses = [503, 500, 200, 404];
    await withHeartbeat(
      job(() => Promise.resolve()),
      createHeartbeat(url('/secret-id'), log),
    ).run(context());
    expect(asked).to.deep.equal(['/secret-id/start', '/secret-id/start', '/secret-id/start', '/secret-id']);
    expect(text()).to.contain('it answered 404').and.not.to.contain('secret-id');
  });

  it('changes nothing of a job whose monitor is away, or that has none', async () => {
    let runs = 0;
    const one = job(async () => void runs++);
    const gone = url('/secret-id');
    monitor.close();
    await withHeartbeat(one, createHeartbeat(gone, log)).run(context());
    await withHeartbeat(one, createHeartbeat(undefined, log)).run(context());
    expect(runs).to.equal(2);
    expect(text()).not.to.contain('secret-id');
  });

  it('is pinged for an attempt whose database is away, and not for the end of one that runs elsewhere', async () => {
    const lifecycle = createLifecycle(log);
    const runtime = createRuntimes({ lifecycle, metrics: createMetrics(), host: '127.0.0.1', logFor: () => log }).of('cleanup', {});
    const worker = createJobWorker({
      summary: 'a job',
      migrations: { schema, directory: migrations },
      everyMs: 1000,
      read: () => ({ databaseUrl: new Secret('postgres://127.0.0.1:1/none') }),
      heartbeat: () => createHeartbeat(url('/secret-id'), log),
      create: () => job(() => Promise.resolve()),
    });
    const failure = await worker.once(runtime, await worker.read({})).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(asked).to.deep.equal(['/secret-id/start', '/secret-id/fail']);
    await createHeartbeat(url('/elsewhere'), log)(() => Promise.resolve(false), lifecycle.stopping);
    expect(asked.slice(2)).to.deep.equal(['/elsewhere/start']);
    await lifecycle.stop();
  });
});
