import { expect } from 'chai';
import { createHealth, watchReadiness } from '../../services/platform/health.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createLifecycle } from '../../services/platform/process/lifecycle.ts';
import { eventually } from '../support/wait.ts';
import { captureLog } from './captured-log.ts';

describe('createHealth', () => {
  it('is ready without a check, and with checks that are all fine', async () => {
    const health = createHealth();
    expect(await health.readiness()).to.deep.equal({ status: 'ready', checks: {} });
    health.addCheck('database', () => ({ ok: true }));
    expect(await health.readiness()).to.deep.equal({ status: 'ready', checks: { database: { ok: true } } });
  });

  it('is unready by one check, and ready again when that is', async () => {
    const health = createHealth();
    let ok = false;
    health.addCheck('broker', () => Promise.resolve({ ok: true }));
    health.addCheck('database', () => ({ ok, detail: 'schema too old' }));
    expect(await health.readiness()).to.deep.equal({ status: 'unready', checks: { broker: { ok: true }, database: { ok: false, detail: 'schema too old' } } });
    ok = true;
    expect(await health.readiness()).to.include({ status: 'ready' });
  });

  it('takes a throwing or rejecting check for a failed one, and shows no more of its error than a code', async () => {
    const health = createHealth();
    health.addCheck('rejects', () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED 10.9.8.7:5432'), { code: 'ECONNREFUSED' })));
    health.addCheck('throws', () => {
      throw new Error('password authentication failed for user "boss"');
    });
    expect(await health.readiness()).to.deep.equal({
      status: 'unready',
      checks: { rejects: { ok: false, detail: 'failed (ECONNREFUSED)' }, throws: { ok: false, detail: 'failed' } },
    });
  });

  it('does not wait for a check that hangs', async () => {
    const health = createHealth();
    health.addCheck('hangs', () => new Promise(() => undefined));
    expect(await health.readiness()).to.deep.equal({ status: 'unready', checks: { hangs: { ok: false, detail: 'no answer in 2000 ms' } } });
  });

  it('outlives a check that rejects after it was given up', async () => {
    const health = createHealth();
    const late = Promise.withResolvers<never>();
    health.addCheck('late', () => late.promise);
    expect(await health.readiness()).to.include({ status: 'unready' });
    late.reject(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('is unready once stopping begins, whatever the checks say', async () => {
    const health = createHealth();
    health.addCheck('database', () => ({ ok: true }));
    health.markStopping();
    expect(health.isStopping).to.equal(true);
    expect(await health.readiness()).to.deep.equal({
      status: 'unready',
      checks: { database: { ok: true }, stopping: { ok: false, detail: 'the process is stopping' } },
    });
  });
});

describe('watchReadiness', () => {
  it('says what is not ready, and why, then that all is ready, each once', async () => {
    const { log, lines } = captureLog();
    const lifecycle = createLifecycle(silentLog);
    const health = createHealth();
    let isRight = false;
    health.addCheck('master keys', () => (isRight ? { ok: true } : { ok: false, detail: 'k1 is not the key' }));
    watchReadiness(new Map([['secrets', health]]), lifecycle.stopping, log);
    await eventually(() => lines().some(({ msg }) => msg === 'not ready'));
    isRight = true;
    await eventually(() => lines().some(({ msg }) => msg === 'ready'));
    await lifecycle.stop();
    expect(lines().map(({ msg, checks }) => [msg, checks])).to.deep.equal([
      ['not ready', { 'secrets.master keys': 'k1 is not the key' }],
      ['ready', undefined],
    ]);
  });

  it('says nothing when a check fails on for another reason, and names the others that begin or end to fail', async () => {
    const { log, lines } = captureLog();
    const lifecycle = createLifecycle(silentLog);
    const health = createHealth();
    const reasons: Record<string, string | undefined> = { schema: 'failed (ECONNREFUSED)', spool: undefined };
    let looks = 0;
    for (const name of Object.keys(reasons)) {
      health.addCheck(name, () => {
        looks += 1;
        const detail = reasons[name];
        return detail === undefined ? { ok: true } : { ok: false, detail };
      });
    }
    /** Until each check was asked once more after this call. */
    const lookedAgain = async () => {
      const before = looks;
      await eventually(() => looks >= before + 4);
    };
    watchReadiness(new Map([['relay', health]]), lifecycle.stopping, log);
    await eventually(() => lines().length === 1);
    reasons['schema'] = 'no answer in 2000 ms';
    await lookedAgain();
    reasons['spool'] = 'ENOSPC';
    await eventually(() => lines().length === 2);
    reasons['schema'] = undefined;
    await eventually(() => lines().length === 3);
    reasons['spool'] = undefined;
    await eventually(() => lines().length === 4);
    await lifecycle.stop();
    expect(lines().map(({ msg, checks }) => [msg, checks])).to.deep.equal([
      ['not ready', { 'relay.schema': 'failed (ECONNREFUSED)' }],
      ['not ready', { 'relay.schema': 'no answer in 2000 ms', 'relay.spool': 'ENOSPC' }],
      ['not ready', { 'relay.spool': 'ENOSPC' }],
      ['ready', undefined],
    ]);
  });
});
