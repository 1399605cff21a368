import { expect } from 'chai';
import { describeError } from '../../services/platform/errors.ts';
import { backOffMs, createWakeUp, every, retryUntil, sleepUntil, withTimeout } from '../../services/platform/time.ts';

describe('withTimeout', () => {
  it('answers what the work comes to, or what is given for a late one', async () => {
    expect(await withTimeout(Promise.resolve('done'), 10_000, () => 'late')).to.equal('done');
    expect(await withTimeout(new Promise(() => undefined), 5, () => 'late')).to.equal('late');
  });

  it('fails with the error of the work, or with that of what is given for a late one', async () => {
    const refuse = () => {
      throw new Error('refused as late');
    };
    const failed = await withTimeout(Promise.reject(new Error('failed')), 10_000, refuse).catch(describeError);
    const refused = await withTimeout(new Promise<string>(() => undefined), 5, refuse).catch(describeError);
    expect([failed, refused]).to.deep.equal(['failed', 'refused as late']);
  });

  it('says nothing of work that fails when it is late', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    expect(await withTimeout(promise, 5, () => 'late')).to.equal('late');
    reject(new Error('failed later')); // unheard it would end the process
    await sleepUntil(AbortSignal.timeout(5), 60_000);
  });
});

describe('backOffMs', () => {
  it('doubles up to the longest pause, and is shortened by up to a third', () => {
    for (const [attempt, most] of [
      [1, 100],
      [2, 200],
      [7, 6400],
      [8, 10_000],
      [2000, 10_000],
    ] as const)
      for (let times = 0; times < 50; times++) expect(backOffMs(attempt, { firstMs: 100, longestMs: 10_000 })).to.be.within((most * 2) / 3, most);
  });
});

describe('sleepUntil', () => {
  it('tells whether the signal ended it', async () => {
    expect(await sleepUntil(new AbortController().signal, 1)).to.equal(true);
    expect(await sleepUntil(AbortSignal.timeout(5), 60_000)).to.equal(false);
  });
});

describe('createWakeUp', () => {
  it('ends the pause, or the next one before it begins', async () => {
    const wakeUp = createWakeUp(new AbortController().signal);
    wakeUp.wake();
    await wakeUp.pause(60_000);
    const paused = wakeUp.pause(60_000);
    wakeUp.wake();
    await paused;
  });

  it('ends every pause once it is stopped', async () => {
    const stopping = new AbortController();
    const wakeUp = createWakeUp(stopping.signal);
    stopping.abort();
    await wakeUp.pause(60_000);
    await wakeUp.pause(60_000);
  });
});

describe('every', () => {
  it('works at once and again until it is stopped, and waits for the work in hand', async () => {
    const stopping = new AbortController();
    let ended = 0;
    await every(1, stopping.signal, async () => {
      await sleepUntil(new AbortController().signal, 1);
      if (++ended === 3) stopping.abort();
    });
    expect(ended).to.equal(3);
  });
});

describe('retryUntil', () => {
  const retry = (timeoutMs: number, told: string[]) => ({
    timeoutMs,
    isTemporary: (error: unknown) => String(error).includes('away'),
    describe: String,
    onWait: (reason: string) => void told.push(reason),
  });

  it('tries again what failed for a while, and tells a reason once', async () => {
    const told: string[] = [];
    let tries = 0;
    const work = () => (++tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve('there'));
    expect(await retryUntil(retry(10_000, told), work)).to.equal('there');
    expect(told).to.deep.equal(['Error: away']);
  });

  it('throws what is not temporary, and the last failure when the time is over', async () => {
    const failing = (message: string, timeoutMs: number) => retryUntil(retry(timeoutMs, []), () => Promise.reject(new Error(message))).catch(String);
    expect(await failing('wrong', 10_000)).to.equal('Error: wrong');
    expect(await failing('away', 0)).to.equal('Error: away');
  });
});
