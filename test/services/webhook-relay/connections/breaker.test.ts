// The circuit breaker, on a clock of its own.
import { expect } from 'chai';
import { createBreaker } from '../../../../services/webhook-relay/connections/breaker.ts';

describe('breaker', () => {
  const setUp = () => {
    const clock = { now: 1000 };
    return { clock, breaker: createBreaker(() => clock.now) };
  };

  it('lets everything through at first', () => {
    const { breaker } = setUp();
    expect(breaker.isPassable).to.equal(true);
    expect(breaker.enter()).to.equal(true);
  });
  it('lets nothing through after a failure, until its pause is over', () => {
    const { clock, breaker } = setUp();
    breaker.failed();
    expect(breaker.isPassable).to.equal(false);
    expect(breaker.enter()).to.equal(false);
    clock.now += 499;
    expect(breaker.isPassable).to.equal(false);
    clock.now += 1;
    expect(breaker.isPassable).to.equal(true);
  });
  it('counts failures of the same moment as one', () => {
    const { clock, breaker } = setUp();
    for (let failures = 0; failures < 100; failures++) breaker.failed();
    clock.now += 500;
    expect(breaker.isPassable).to.equal(true);
  });
  it('doubles the pause with each failed trial, to 30 s at most', () => {
    const { clock, breaker } = setUp();
    breaker.failed();
    for (const pauseMs of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      clock.now += pauseMs - 1;
      expect(breaker.enter()).to.equal(false);
      clock.now += 1;
      expect(breaker.enter()).to.equal(true);
      breaker.failed();
    }
  });
  it('sends one to find out, and lets those of the same moment wait for its word', async () => {
    for (const [word, expected] of [
      ['succeeded', true],
      ['failed', false],
    ] as const) {
      const { clock, breaker } = setUp();
      breaker.failed();
      clock.now += 500;
      expect(breaker.enter()).to.equal(true);
      const others = [breaker.enter(), breaker.enter()];
      expect(others.every((other) => other instanceof Promise)).to.equal(true);
      breaker[word]();
      for (const other of others) expect(await other).to.equal(expected);
    }
  });
  it('is passed by when the one that finds out takes long', () => {
    const { clock, breaker } = setUp();
    breaker.failed();
    clock.now += 500;
    expect(breaker.enter()).to.equal(true);
    clock.now += 100;
    expect(breaker.isPassable).to.equal(false);
  });
  it('is closed by a success, and begins again with the first pause', () => {
    const { clock, breaker } = setUp();
    breaker.failed();
    clock.now += 500;
    expect(breaker.enter()).to.equal(true);
    breaker.failed();
    clock.now += 1000;
    expect(breaker.enter()).to.equal(true);
    breaker.succeeded();
    expect(breaker.enter()).to.equal(true);
    breaker.failed();
    clock.now += 500;
    expect(breaker.isPassable).to.equal(true);
  });
});
