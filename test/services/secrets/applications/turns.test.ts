import { expect } from 'chai';
import { Problem } from '../../../../services/platform/problem.ts';
import { createTurns } from '../../../../services/secrets/applications/turns.ts';

const never = 60_000;
const busy = (error: unknown) => error instanceof Problem && error.status === 503 && error.headers['Retry-After'] === '5';
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => (busy(error) ? 'busy' : error),
  );

describe('createTurns', () => {
  it('lets one at a time write to an application, in the order of asking', async () => {
    const turns = createTurns({ maxWaiting: 100, waitMs: never });
    const order: number[] = [];
    let atWork = 0;
    const write = (number: number) =>
      turns.take('shop', async () => {
        expect(++atWork).to.equal(1);
        await Promise.resolve();
        order.push(number);
        atWork--;
        return number;
      });
    expect(await Promise.all([1, 2, 3, 4].map(write))).to.deep.equal([1, 2, 3, 4]);
    expect(order).to.deep.equal([1, 2, 3, 4]);
  });

  it('holds nobody up who writes to another', async () => {
    const turns = createTurns({ maxWaiting: 100, waitMs: never });
    const held = Promise.withResolvers<string>();
    const first = turns.take('shop', () => held.promise);
    expect(await turns.take('office', () => Promise.resolve('at once'))).to.equal('at once');
    held.resolve('later');
    expect(await first).to.equal('later');
  });

  it('goes on after a write that failed, and tells its failure to its caller alone', async () => {
    const turns = createTurns({ maxWaiting: 100, waitMs: never });
    const failed = new Error('refused');
    const outcomes = await Promise.allSettled([turns.take('shop', () => Promise.reject(failed)), turns.take('shop', () => Promise.resolve('done'))]);
    expect(outcomes).to.deep.equal([
      { status: 'rejected', reason: failed },
      { status: 'fulfilled', value: 'done' },
    ]);
  });

  it('refuses with 503 whom a turn does not reach in time, and begins nothing of it later', async () => {
    const turns = createTurns({ maxWaiting: 100, waitMs: 20 });
    const held = Promise.withResolvers<string>();
    const first = turns.take('shop', () => held.promise);
    let begun = 0;
    const count = () => Promise.resolve(void begun++);
    expect(await Promise.all([refusal(turns.take('shop', count)), refusal(turns.take('shop', count))])).to.deep.equal(['busy', 'busy']);
    held.resolve('done');
    expect(await first).to.equal('done');
    expect(await turns.take('shop', () => Promise.resolve('again'))).to.equal('again');
    expect(begun).to.equal(0);
  });

  it('refuses at once whom there is no room for', async () => {
    const turns = createTurns({ maxWaiting: 1, waitMs: never });
    const held = Promise.withResolvers<string>();
    const all = [1, 2].map(() => turns.take('shop', () => held.promise));
    expect(await refusal(turns.take('shop', () => held.promise))).to.equal('busy');
    held.resolve('done');
    expect(await Promise.all(all)).to.deep.equal(['done', 'done']);
  });
});
