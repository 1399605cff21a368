import { expect } from 'chai';
import pg from 'pg';
import { Problem } from '../../services/platform/problem.ts';
import { createBatcher } from '../../services/platform/batcher.ts';

/** Answers each question with itself when it is told to. */
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

  it('asks each alone when the database refuses several, so that nobody pays for another', async () => {
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
