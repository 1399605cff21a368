import { expect } from 'chai';
import { createContention } from '../../services/operator/contention.ts';

const start = Date.parse('2026-11-23T12:00:00Z');
const at = (seconds: number) => new Date(start + seconds * 1000);

describe('contention', () => {
  /** Seconds of the writes against a writer that undoes each of them within a second. */
  function fight(untilS: number): number[] {
    const contention = createContention();
    const writes: number[] = [];
    for (let second = 0; second <= untilS; second++) if (!contention.admit('a', 'same', at(second))) writes.push(second);
    return writes;
  }

  it('admits three restorations at once, then one a minute, and fewer with each', () => {
    expect(fight(3600)).to.deep.equal([0, 1, 2, 3, 63, 183, 423, 903, 1503, 2103, 2703, 3303]);
  });

  it('admits other content at once', () => {
    const contention = createContention();
    for (let second = 0; second < 10; second++) contention.admit('a', 'same', at(second));
    expect(contention.admit('a', 'same', at(10))).to.deep.equal({ count: 3, pauseMs: 53_000 });
    expect(contention.contestOf('a', at(10))).to.deep.equal({ count: 3, pauseMs: 53_000 });
    expect(contention.admit('a', 'other', at(10))).to.equal(undefined);
    expect(contention.contestOf('a', at(10))).to.equal(undefined);
  });

  it('ends when the other writer was quiet for as long as the pause', () => {
    const contention = createContention();
    for (const second of [0, 1, 2, 3]) contention.admit('a', 'same', at(second));
    contention.settle('a', at(40));
    expect(contention.contestOf('a', at(40))).not.to.equal(undefined);
    contention.settle('a', at(63));
    for (const second of [64, 65, 66]) expect(contention.admit('a', 'same', at(second))).to.equal(undefined);
    expect(contention.admit('a', 'same', at(67))).to.deep.equal({ count: 3, pauseMs: 59_000 });
  });

  it('is of each key by itself', () => {
    const contention = createContention();
    for (let second = 0; second < 10; second++) contention.admit('a', 'same', at(second));
    expect(contention.admit('b', 'same', at(10))).to.equal(undefined);
    contention.forget('a');
    expect(contention.admit('a', 'same', at(10))).to.equal(undefined);
  });
});
