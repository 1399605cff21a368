import { expect } from 'chai';
import { createHealth } from '../../../services/platform/http/health.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { watchReadiness } from '../../../services/platform/http/readiness-watch.ts';
import { eventually } from '../../support/wait.ts';
import { captureLog } from '../captured-log.ts';

describe('watchReadiness', () => {
  it('says what is not ready, and why, then that all is ready, each once', async () => {
    const { log, lines } = captureLog();
    const lifecycle = createLifecycle(silentLog);
    const health = createHealth();
    let isRight = false;
    health.addCheck('master keys', () => (isRight ? { ok: true } : { ok: false, detail: 'k1 is not the key' }));
    watchReadiness(new Map([['secrets', health]]), lifecycle, log);
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
    watchReadiness(new Map([['relay', health]]), lifecycle, log);
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
