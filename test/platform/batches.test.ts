import { expect } from 'chai';
import pg from 'pg';
import { createBatcher, createBatchWriter, type BatchWriterParts } from '../../services/platform/batches.ts';
import { Problem } from '../../services/platform/problem.ts';
import { eventually } from '../support/wait.ts';

/** As the driver throws them. */
const refusal = () => Object.assign(new pg.DatabaseError('invalid byte sequence', 0, 'error'), { code: '22021' });
const isAway = () => Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('createBatchWriter', () => {
  /** A writer of numbers, with what it wrote, what it told of, and a gate before each write. */
  function create({ write, ...limits }: Partial<BatchWriterParts<number>['limits']> & { readonly write?: (rows: readonly number[]) => Promise<unknown> } = {}) {
    const [written, refused, failures]: [number[][], number[], unknown[]] = [[], [], []];
    const writer = createBatchWriter<number>({
      async write(rows) {
        await write?.(rows);
        written.push([...rows]);
      },
      onFailure: (error) => void failures.push(error),
      onRefused: (row) => void refused.push(row),
      limits: { maxWaiting: 1000, batchSize: 3, pauseMs: 1, closeMs: 30_000, ...limits },
    });
    return { writer, written, refused, failures };
  }

  it('writes in the order in which rows came, a batch at a time', async () => {
    const { writer, written } = create();
    for (const row of upTo(7)) writer.add(row);
    expect(written).to.deep.equal([]);
    await eventually(() => writer.waiting === 0);
    expect(written).to.deep.equal([[0, 1, 2], [3, 4, 5], [6]]);
    expect(await writer.close()).to.equal(0);
  });

  it('writes no more than its batches in a pause, where it has such a limit', async () => {
    const times: number[] = [];
    const { writer, written } = create({ batchesPerPause: 1, pauseMs: 30, write: async () => void times.push(performance.now()) });
    for (const row of upTo(7)) writer.add(row);
    await eventually(() => writer.waiting === 0);
    expect(written).to.deep.equal([[0, 1, 2], [3, 4, 5], [6]]);
    // A timer may be a millisecond early.
    for (const [index, time] of times.slice(1).entries()) expect(time - (times[index] ?? time)).to.be.at.least(28);
  });

  it('does not wait for its pause on close', async () => {
    const { writer, written } = create({ batchesPerPause: 1, pauseMs: 3_600_000 });
    for (const row of upTo(4)) writer.add(row);
    expect(await writer.close()).to.equal(0);
    expect(written).to.deep.equal([[0, 1, 2], [3]]);
  });

  it('takes rows while it writes, and never writes two batches at once', async () => {
    let atOnce = 0;
    const { writer, written, failures } = create({
      async write() {
        expect(++atOnce).to.equal(1);
        await new Promise(setImmediate);
        atOnce--;
      },
    });
    for (const row of upTo(10)) {
      writer.add(row);
      await new Promise(setImmediate);
    }
    await Promise.all([writer.close(), writer.close()]);
    expect(failures).to.deep.equal([]);
    expect(written.flat()).to.deep.equal(upTo(10));
  });

  it('keeps the rows that come while a batch with room for more is written', async () => {
    const [begun, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const { writer, written } = create({ write: () => (begun.resolve(undefined), gate.promise) });
    writer.add(0);
    await begun.promise;
    writer.add(1);
    gate.resolve(undefined);
    await writer.close();
    expect(written).to.deep.equal([[0], [1]]);
  });

  it('tries again what was no fault of the rows, and keeps all of it meanwhile', async () => {
    let away = 3;
    const { writer, written, failures, refused } = create({ write: () => (away-- > 0 ? Promise.reject(isAway()) : Promise.resolve()) });
    for (const row of upTo(4)) writer.add(row);
    await eventually(() => writer.waiting === 0);
    expect(written.flat()).to.deep.equal(upTo(4));
    expect(failures).to.have.length(3);
    expect(refused).to.deep.equal([]);
  });

  it('loses of a batch only the rows that are refused, and tells of each once', async () => {
    let away = 1;
    const { writer, written, refused } = create({
      write(rows) {
        if (rows.includes(1)) return Promise.reject(refusal());
        // In the middle of writing them one by one.
        return rows[0] === 2 && away-- > 0 ? Promise.reject(isAway()) : Promise.resolve();
      },
    });
    for (const row of upTo(5)) writer.add(row);
    await eventually(() => writer.waiting === 0);
    expect(refused).to.deep.equal([1]);
    expect(written.flat()).to.deep.equal([0, 2, 3, 4]);
  });

  it('says when it has no room, and takes rows all the same', async () => {
    const gate = Promise.withResolvers<undefined>();
    const { writer, written } = create({ maxWaiting: 2, write: () => gate.promise });
    writer.add(0);
    expect(writer.hasRoom).to.equal(true);
    writer.add(1);
    expect(writer.hasRoom).to.equal(false);
    writer.add(2);
    gate.resolve(undefined);
    await eventually(() => writer.hasRoom);
    await writer.close();
    expect(written.flat()).to.deep.equal([0, 1, 2]);
  });

  it('gives up on close where the database hangs, and says how many rows are lost', async () => {
    const { promise: never } = Promise.withResolvers<void>();
    const { writer } = create({ closeMs: 20, write: () => never });
    for (const row of upTo(5)) writer.add(row);
    expect(await writer.close()).to.equal(5);
  });

  it('gives up on close where the database is away, says how many rows are lost, and leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const [begun, gate] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const { writer } = create({ write: () => (begun.resolve(undefined), gate.promise) });
    for (const row of upTo(5)) writer.add(row);
    await begun.promise;
    const before = timers();
    const closing = writer.close();
    gate.reject(isAway());
    expect(await closing).to.equal(5);
    await new Promise(setImmediate);
    expect(timers()).to.equal(before);
  });
});

/** Answers each question with itself when the test calls `answer`. */
function asked() {
  const groups: { readonly questions: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = (questions: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      groups.push({ questions, answer: () => resolve(questions.map((question) => `${question}!`)), fail: reject });
    });
  return { groups, ask, questions: () => groups.map((group) => group.questions) };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));
const down = () => Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });

describe('createBatcher', () => {
  it('asks with the turn of the event loop while a statement is free, what was put in one turn together', async () => {
    const { ask, questions } = asked();
    const put = createBatcher(ask, { concurrency: 2, maxBatch: 10, maxWaiting: 9 });
    void put('a');
    void put('b');
    await settle();
    void put('c');
    await settle();
    void put('d');
    await settle();
    expect(questions()).to.deep.equal([['a', 'b'], ['c']]);
  });

  it('fails every question when an answer is missing', async () => {
    const put = createBatcher((questions: readonly string[]) => Promise.resolve(questions.slice(1)), { concurrency: 1, maxBatch: 10, maxWaiting: 9 });
    const outcomes = await Promise.allSettled(['a', 'b'].map(put));
    for (const outcome of outcomes) expect(outcome).to.have.property('reason').that.is.instanceOf(TypeError);
  });

  it('asks together what waited, in statements that begin after every question in them', async () => {
    const { ask, groups, questions } = asked();
    const put = createBatcher(ask, { concurrency: 1, maxBatch: 2, maxWaiting: 9 });
    const first = put('a');
    await settle();
    const answers = [first, ...['b', 'c', 'd'].map(put)];
    expect(questions()).to.deep.equal([['a']]);
    groups[0]?.answer();
    await settle();
    expect(questions()).to.deep.equal([['a'], ['b', 'c']]);
    groups[1]?.answer();
    await settle();
    groups[2]?.answer();
    expect(await Promise.all(answers)).to.deep.equal(['a!', 'b!', 'c!', 'd!']);
    void put('e');
    await settle();
    expect(questions().at(-1)).to.deep.equal(['e']);
  });

  it('asks together no more than may be weighed together, and what is heavier alone', async () => {
    const questions: (readonly string[])[] = [];
    const ask = (group: readonly string[]) => Promise.resolve((questions.push(group), group));
    const put = createBatcher(ask, { concurrency: 1, maxBatch: 4, maxWaiting: 9, weightOf: ({ length }) => length });
    await Promise.all(['aa', 'bb', 'c', 'dddddd', 'e'].map(put));
    expect(questions).to.deep.equal([['aa', 'bb'], ['c'], ['dddddd'], ['e']]);
  });

  it('asks each alone when the database refuses several, so that none fails because of another', async () => {
    const alone: string[] = [];
    const put = createBatcher(
      (questions: readonly string[]) => {
        if (questions.length === 1) alone.push(...questions);
        return questions.includes('bad') ? Promise.reject(badText()) : Promise.resolve(questions);
      },
      { concurrency: 1, maxBatch: 10, maxWaiting: 9 },
    );
    const first = put('first');
    await settle();
    const outcomes = await Promise.allSettled([put('a'), put('bad'), put('b'), first]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(alone).to.deep.equal(['first', 'a', 'bad', 'b']);
  });

  it('asks each alone after failures that `isOfOne` ascribes to one question', async () => {
    const slow = new Error('took too long');
    const asks: (readonly string[])[] = [];
    const put = createBatcher(
      (questions: readonly string[]) => (asks.push(questions), questions.includes('slow') ? Promise.reject(slow) : Promise.resolve(questions)),
      { concurrency: 1, maxBatch: 10, maxWaiting: 9, isOfOne: (error) => error === slow },
    );
    const outcomes = await Promise.allSettled(['a', 'slow', 'b'].map(put));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(asks).to.deep.equal([['a', 'slow', 'b'], ['a'], ['slow'], ['b']]);
  });

  it('refuses to let ever more wait', async () => {
    const { ask, groups } = asked();
    const put = createBatcher(ask, { concurrency: 1, maxBatch: 10, maxWaiting: 2 });
    const first = put('asked');
    await settle();
    const answers = [first, put('waits'), put('waits too')];
    const refused = await put('one more').catch((error: unknown) => error);
    expect(refused)
      .to.be.instanceOf(Problem)
      .and.to.deep.include({ status: 503, headers: { 'Retry-After': '5' } });
    groups[0]?.answer();
    await settle();
    groups[1]?.answer();
    expect(await Promise.all(answers)).to.deep.equal(['asked!', 'waits!', 'waits too!']);
  });

  const badText = () => Object.assign(new pg.DatabaseError('invalid byte sequence', 1, 'error'), { code: '22021' });
  const cancelled = () => Object.assign(new pg.DatabaseError('canceling statement due to statement timeout', 1, 'error'), { code: '57014' });
  for (const [what, failure] of Object.entries({ 'whose database is gone': down, 'that ran out of time': cancelled })) {
    it(`fails all of a statement ${what}, and asks none of them again`, async () => {
      const { ask, groups, questions } = asked();
      const put = createBatcher(ask, { concurrency: 1, maxBatch: 10, maxWaiting: 9 });
      const first = put('first');
      await settle();
      const others = ['a', 'b'].map(put);
      groups[0]?.answer();
      await first;
      await settle();
      groups[1]?.fail(failure());
      const outcomes = await Promise.allSettled(others);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
      expect(questions()).to.deep.equal([['first'], ['a', 'b']]);
    });
  }
});
