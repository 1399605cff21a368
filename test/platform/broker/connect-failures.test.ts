// The lines of a connection that cannot be made: a server that starts beside the process is no error.
import { expect } from 'chai';
import { createConnectFailures } from '../../../services/platform/broker/outcomes.ts';
import { captureLog } from '../captured-log.ts';

function open() {
  const { log, lines } = captureLog();
  let ms = 0;
  const failures = createConnectFailures(log, 'connecting failed', () => ms);
  return { failures, pass: (seconds: number) => void (ms += seconds * 1000), said: () => lines().map(({ level, reason }) => `${level} ${String(reason)}`) };
}

describe('failures to connect to a broker', () => {
  it('are warnings, once for each reason, while its server may be starting', () => {
    const { failures, pass, said } = open();
    for (const reason of ['refused', 'refused', 'no such host']) {
      failures.failed(reason);
      pass(30);
    }
    expect(said()).to.deep.equal(['warn refused', 'warn no such host']);
  });

  it('become an error when the same reason outlasts that', () => {
    const { failures, pass, said } = open();
    failures.failed('refused');
    pass(120);
    failures.failed('refused');
    failures.failed('refused');
    expect(said()).to.deep.equal(['warn refused', 'error refused']);
  });

  it('are errors at once after a connection', () => {
    const { failures, said } = open();
    failures.failed('refused');
    failures.connected();
    failures.failed('refused');
    expect(said()).to.deep.equal(['warn refused', 'error refused']);
  });
});
