// The circuit breaker, with a probe that answers when a test says so.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createCircuitBreaker } from '../../../services/webhook-relay/circuit-breaker.ts';
import { eventually } from '../../support/wait.ts';

describe('circuit breaker', () => {
  const stopping = new AbortController();
  after(() => stopping.abort());

  function setUp(longestMs = 10) {
    const seen = { probes: [] as number[], opened: [] as unknown[], closed: 0 };
    const answers: { probe: () => Promise<unknown> } = { probe: () => Promise.resolve() };
    const breaker = createCircuitBreaker({
      probe() {
        seen.probes.push(performance.now());
        return answers.probe();
      },
      probeTimeoutMs: 30,
      probeEveryMs: 5,
      openMs: { firstMs: 10, longestMs },
      onOpen: (reason) => seen.opened.push(reason),
      onClose: () => (seen.closed += 1),
      stopping: stopping.signal,
    });
    return { breaker, seen, answers };
  }

  it('is closed at first, and asks nothing while it is', async () => {
    const { breaker, seen } = setUp();
    expect(breaker.isClosed).to.equal(true);
    breaker.succeeded();
    await sleep(20);
    expect(seen).to.deep.equal({ probes: [], opened: [], closed: 0 });
  });

  it('opens with a failure, those of the same moment counting as one, and closes with the first probe that is answered', async () => {
    const { breaker, seen } = setUp();
    for (const reason of ['first', 'second', 'third']) breaker.failed(reason);
    expect([breaker.isClosed, seen.opened]).to.deep.equal([false, ['first']]);
    await eventually(() => breaker.isClosed);
    expect([seen.probes.length, seen.closed]).to.deep.equal([1, 1]);
  });

  for (const [what, probe] of [
    ['fail', () => Promise.reject(new Error('gone'))],
    ['hang', () => new Promise(() => undefined)],
  ] as const)
    it(`stays open while probes ${what}, and asks again until one is answered`, async () => {
      const { breaker, seen, answers } = setUp();
      answers.probe = probe;
      breaker.failed('down');
      await eventually(() => seen.probes.length >= 3);
      expect([breaker.isClosed, seen.closed]).to.deep.equal([false, 0]);
      answers.probe = () => Promise.resolve();
      await eventually(() => breaker.isClosed);
      expect(seen.closed).to.equal(1);
    });

  it('stays open for longer each time that nothing succeeded in between, and no longer after a success', async () => {
    const { breaker, seen } = setUp(10_000);
    const opened = async () => {
      const begun = performance.now();
      breaker.failed('no confirm');
      await eventually(() => breaker.isClosed, { everyMs: 1 });
      return (seen.probes.at(-1) ?? 0) - begun;
    };
    await opened();
    await opened();
    await opened();
    await opened();
    expect(await opened()).to.be.above(100); // 160 ms, less a third at most
    breaker.succeeded();
    expect(await opened()).to.be.below(100);
  });

  it('closes at once when what it guards is heard of in another way, and asks no more', async () => {
    const { breaker, seen } = setUp();
    breaker.failed('down');
    breaker.succeeded();
    expect(breaker.isClosed).to.equal(true);
    await sleep(30);
    expect([seen.probes, seen.closed]).to.deep.equal([[], 0]);
  });

  it('closes at once when what it guards was made anew, the first time since a success', async () => {
    const { breaker, seen } = setUp();
    breaker.failed('no confirm');
    breaker.renewed();
    expect(breaker.isClosed).to.equal(true);
    breaker.failed('no confirm');
    breaker.renewed();
    expect(breaker.isClosed).to.equal(false);
    await eventually(() => breaker.isClosed);
    expect(seen.probes.length).to.equal(1);
  });

  it('drops the answer to a probe of before it was closed and opened again', async () => {
    const { breaker, seen, answers } = setUp();
    const late = Promise.withResolvers<undefined>();
    answers.probe = () => late.promise;
    breaker.failed('down');
    await eventually(() => seen.probes.length === 1);
    breaker.succeeded();
    answers.probe = () => Promise.reject(new Error('down again'));
    breaker.failed('down again');
    late.resolve(undefined);
    await sleep(10);
    expect([breaker.isClosed, seen.closed]).to.deep.equal([false, 0]);
  });
});
