import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { withHeartbeat } from '../../../../services/webhook-intake/jobs/heartbeat.ts';
import type { Job } from '../../../../services/webhook-intake/jobs/runner.ts';
import { captureLog } from '../../../platform/captured-log.ts';

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

  it('is told when the job begins and when it has succeeded', async () => {
    const seen: number[] = [];
    await withHeartbeat(
      job(async () => void seen.push(asked.length)),
      url('/secret-id'),
      log,
    ).run(context());
    expect(asked).to.deep.equal(['/secret-id/start', '/secret-id']);
    expect(seen).to.deep.equal([1]);
  });

  it('is told when the job has failed, which is thrown', async () => {
    const run = withHeartbeat(
      job(() => Promise.reject(new Error('no disk'))),
      url('/secret-id/?rid=1'),
      log,
    ).run(context());
    expect(await run.catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(asked).to.deep.equal(['/secret-id/start?rid=1', '/secret-id/fail?rid=1']);
  });

  it('is asked again when the monitor fails, and not when it refuses', async () => {
    statuses = [503, 500, 200, 404];
    await withHeartbeat(
      job(() => Promise.resolve()),
      url('/secret-id'),
      log,
    ).run(context());
    expect(asked).to.deep.equal(['/secret-id/start', '/secret-id/start', '/secret-id/start', '/secret-id']);
    expect(text()).to.contain('it answered 404').and.not.to.contain('secret-id');
  });

  it('changes nothing of a job whose monitor is away, or that has none', async () => {
    let runs = 0;
    const one = job(async () => void runs++);
    const gone = url('/secret-id');
    monitor.close();
    await withHeartbeat(one, gone, log).run(context());
    await withHeartbeat(one, undefined, log).run(context());
    expect(runs).to.equal(2);
    expect(text()).not.to.contain('secret-id');
  });
});
