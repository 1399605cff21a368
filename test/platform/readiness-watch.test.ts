import { expect } from 'chai';
import { createHealth } from '../../services/platform/health.ts';
import { createLifecycle } from '../../services/platform/lifecycle.ts';
import { silentLog } from '../../services/platform/log.ts';
import { watchReadiness } from '../../services/platform/readiness-watch.ts';
import { eventually } from '../support/wait.ts';
import { captureLog } from './captured-log.ts';

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
});
