import { expect } from 'chai';
import { createHealth } from '../../../services/platform/http/health.ts';

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
