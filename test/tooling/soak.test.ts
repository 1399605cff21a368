import { expect } from 'chai';
import { createOutcomes, createStates } from '../soak/load.ts';
import { createRandom } from '../soak/random.ts';

describe('the accounts of a soak', () => {
  it('name what was promised and is missing, what is there twice, and what was never sent', () => {
    const outcomes = createOutcomes();
    for (const number of [1, 2, 3]) outcomes.set(number, 'promised');
    outcomes.set(4, 'unknown');
    outcomes.set(5, 'refused');
    const found = new Map([
      [1, 1],
      [3, 2],
      [4, 1],
      [9, 1],
    ]);
    expect(outcomes.compare(found, 'delivery')).to.deep.equal(['delivery 2 is missing', 'delivery 3 is there 2 times', 'delivery 9 was never sent']);
    expect(outcomes.text()).to.equal('5 (3 promised, 1 refused, 1 without an answer)');
  });

  it('allow a state before or after a change that had no answer, and only the last one that was promised', () => {
    const states = createStates<string>();
    expect([...states.allowed('a')]).to.deep.equal([undefined]);
    states.changed('a', 'first', 'promised');
    states.changed('a', 'second', 'refused');
    expect([...states.allowed('a')]).to.deep.equal(['first']);
    states.changed('a', 'third', 'unknown');
    expect([...states.allowed('a')]).to.deep.equal(['first', 'third']);
    states.changed('a', undefined, 'promised');
    expect([...states.allowed('a')]).to.deep.equal([undefined]);
  });

  it('have the same random numbers for the same seed', () => {
    const numbers = (seed: number) =>
      Array.from(
        { length: 5 },
        (
          (random) => () =>
            random.below(1000)
        )(createRandom(seed, 'faults')),
      );
    expect(numbers(1)).to.deep.equal(numbers(1));
    expect(numbers(1)).not.to.deep.equal(numbers(2));
  });
});
