import { expect } from 'chai';
import { createKeyedSemaphore, createSemaphore } from '../../services/platform/semaphore.ts';

describe('createSemaphore', () => {
  it('gives units as long as there are any, and in order of asking when some come back', async () => {
    const semaphore = createSemaphore(10);
    expect(await semaphore.acquire(7, 0)).to.equal(true);
    const order: string[] = [];
    const first = semaphore.acquire(8, 60_000).then(() => order.push('first'));
    const second = semaphore.acquire(2, 60_000).then(() => order.push('second'));
    expect(await semaphore.acquire(1, 0)).to.equal(false); // not before those who wait
    semaphore.release(7);
    await Promise.all([first, second]);
    expect(order).to.deep.equal(['first', 'second']);
    expect(semaphore.used).to.equal(10);
  });

  it('says no when its time is over, and lets those behind it go on', async () => {
    const semaphore = createSemaphore(10);
    expect(await semaphore.acquire(7, 0)).to.equal(true);
    const large = semaphore.acquire(8, 10);
    const small = semaphore.acquire(2, 60_000);
    expect(await large).to.equal(false);
    expect(await small).to.equal(true);
    expect(semaphore.used).to.equal(9);
  });

  it('refuses to be made without room', () => {
    for (const capacity of [0, -1, 1.5]) expect(() => createSemaphore(capacity)).to.throw(TypeError, 'capacity must be a positive integer');
  });
});

describe('createKeyedSemaphore', () => {
  it('gives a key no more than its own, all of them no more than the total, and what comes back to the next', async () => {
    const semaphore = createKeyedSemaphore({ perKey: 2, total: 3 });
    const [first] = await Promise.all(['a', 'a', 'b'].map((key) => semaphore.acquire(key, 0)));
    expect(await semaphore.acquire('a', 0), 'of its own').to.equal(undefined);
    expect(await semaphore.acquire('b', 0), 'of all').to.equal(undefined);
    const waiting = semaphore.acquire('c', 60_000);
    first?.();
    expect(await waiting).to.be.a('function');
    expect(await semaphore.acquire('a', 0), 'of all').to.equal(undefined);
  });
});
