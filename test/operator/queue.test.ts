import { expect } from 'chai';
import { createQueue, type QueueOptions } from '../../services/operator/queue.ts';
import { eventually } from '../support/wait.ts';

const backOff = { firstMs: 5, longestMs: 40 };

function setUp(options: Partial<QueueOptions> = {}) {
  const worked: string[] = [];
  const failures: string[] = [];
  const queue = createQueue({
    work: async (key) => {
      worked.push(key);
      return Promise.resolve(Number.POSITIVE_INFINITY);
    },
    onFailure: (key) => void failures.push(key),
    backOff,
    ...options,
  });
  return { queue, worked, failures };
}

describe('the queue of keys', () => {
  it('works on a key that is added often once, and once more when it is added meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    const worked: string[] = [];
    const { queue } = setUp({
      async work(key) {
        worked.push(key);
        if (worked.length === 1) await gate.promise;
        return Number.POSITIVE_INFINITY;
      },
    });
    for (let times = 0; times < 5; times++) queue.add('a');
    expect(worked).to.deep.equal(['a']);
    gate.resolve();
    await eventually(() => expect(worked).to.deep.equal(['a', 'a']));
    await queue.close();
    expect(worked).to.deep.equal(['a', 'a']);
  });

  it('works on namespaces in turn, however many keys of one are due', async () => {
    const { queue, worked } = setUp({ concurrency: 1, startsPerSecond: 10_000 });
    for (let number = 0; number < 50; number++) queue.add(`crowded/${number}`);
    for (const name of ['a', 'b']) queue.add(`quiet/${name}`);
    await eventually(() => expect(worked).to.have.lengthOf(52));
    expect(worked.slice(0, 5)).to.have.members(['crowded/0', 'crowded/1', 'crowded/2', 'quiet/a', 'quiet/b']);
    expect(queue.depth).to.equal(0);
    await queue.close();
  });

  it('never works on one key twice at a time, and on so many keys at once', async () => {
    const active = new Set<string>();
    let most = 0;
    let done = 0;
    const { queue } = setUp({
      concurrency: 3,
      startsPerSecond: 10_000,
      async work(key) {
        expect(active.has(key)).to.equal(false);
        active.add(key);
        most = Math.max(most, active.size);
        await new Promise((resolve) => setTimeout(resolve, 1));
        active.delete(key);
        done += 1;
        return Number.POSITIVE_INFINITY;
      },
    });
    for (let index = 0; index < 200; index++) {
      queue.add(`key ${index % 20}`);
      if (index % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await eventually(() => queue.depth === 0 && active.size === 0);
    expect(most).to.equal(3);
    expect(done).to.be.within(20, 200);
    await queue.close();
  });

  it('tries what fails again with growing pauses, others meanwhile, and forgets the failures of what succeeds', async () => {
    const times: number[] = [];
    let isBroken = true;
    const { queue, failures } = setUp({
      work(key) {
        if (key === 'good') return Promise.resolve(Number.POSITIVE_INFINITY);
        times.push(performance.now());
        return isBroken ? Promise.reject(new Error('broken')) : Promise.resolve(Number.POSITIVE_INFINITY);
      },
    });
    queue.add('bad');
    queue.add('good');
    await eventually(() => times.length >= 6);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.at(-1)).to.be.above(pauses[0] ?? Infinity);
    expect(new Set(failures)).to.deep.equal(new Set(['bad']));
    isBroken = false;
    const before = failures.length;
    await eventually(() => times.length > before);
    await queue.close();
  });

  it('comes back to a key after the time that its work asked for, or earlier when it is added', async () => {
    let count = 0;
    const { queue } = setUp({ work: () => Promise.resolve(++count === 1 ? 20 : 3_600_000) });
    queue.add('a');
    await eventually(() => count === 2);
    queue.add('a');
    await eventually(() => count === 3);
    await queue.close();
  });

  it('starts no more than so many a second, and all of them in the end', async () => {
    const times: number[] = [];
    const { queue } = setUp({
      startsPerSecond: 20,
      work() {
        times.push(performance.now());
        return Promise.resolve(Number.POSITIVE_INFINITY);
      },
    });
    for (let index = 0; index < 50; index++) queue.add(String(index));
    await eventually(() => times.length === 50);
    for (const index of [20, 40]) expect((times[index] ?? 0) - (times[index - 20] ?? 0)).to.be.above(900);
    await queue.close();
  });

  it('finishes what is worked on when it is closed, and begins nothing more', async () => {
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const { queue } = setUp({
      concurrency: 1,
      async work() {
        begun += 1;
        await gate.promise;
        return 0;
      },
    });
    queue.add('a');
    queue.add('b');
    let isClosed = false;
    const closing = queue.close().then(() => (isClosed = true));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(isClosed).to.equal(false);
    gate.resolve();
    await closing;
    queue.add('c');
    expect(begun).to.equal(1);
  });
});
