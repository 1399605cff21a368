import { expect } from 'chai';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { captureLog } from '../captured-log.ts';

describe('createLifecycle', () => {
  it('closes in reverse, one after the other', async () => {
    const lifecycle = createLifecycle(silentLog);
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    lifecycle.onStop('database', slow('database'));
    lifecycle.onStop('port', slow('port'));
    await lifecycle.stop();
    expect(order).to.deep.equal(['port begins', 'port ends', 'database begins', 'database ends']);
  });

  it('closes each thing once, however often it is stopped, and what was opened meanwhile', async () => {
    const lifecycle = createLifecycle(silentLog);
    let closed = 0;
    lifecycle.opened('thing', { close: () => void closed++ });
    await Promise.all([lifecycle.stop(), lifecycle.stop()]);
    expect(closed).to.equal(1);
    lifecycle.opened('late thing', { close: () => void closed++ });
    await lifecycle.stop();
    expect(closed).to.equal(2);
  });

  it('aborts its signal before it closes anything', async () => {
    const lifecycle = createLifecycle(silentLog);
    let wasAborted = false;
    lifecycle.onStop('thing', () => void (wasAborted = lifecycle.stopping.aborted));
    expect(lifecycle.stopping.aborted).to.equal(false);
    await lifecycle.stop();
    expect(wasAborted).to.equal(true);
  });

  it('logs what fails to close and closes the rest', async () => {
    const { log, lines } = captureLog();
    const lifecycle = createLifecycle(log);
    let closed = 0;
    lifecycle.onStop('first', () => void closed++);
    lifecycle.onStop('second', () => Promise.reject(new Error('stuck')));
    lifecycle.onStop('third', () => {
      throw new Error('stuck at once');
    });
    await lifecycle.stop();
    expect(closed).to.equal(1);
    const failed = lines().filter(({ level }) => level === 'error');
    expect(failed.map(({ step }) => step)).to.deep.equal(['third', 'second']);
  });

  it('hands back what it was given', () => {
    const thing = { close: () => undefined, port: 7 };
    expect(createLifecycle(silentLog).opened('thing', thing)).to.equal(thing);
  });
});
