import { expect } from 'chai';
import { type ByteBudget, type ByteLease, createByteBudget } from '../../../services/platform/http/byte-budget.ts';

const patientMs = 60_000;

async function held(budget: ByteBudget, bytes: number): Promise<ByteLease> {
  const lease = await budget.acquire(bytes, patientMs);
  if (!lease) throw new Error('there was room');
  return lease;
}

describe('createByteBudget', () => {
  it('counts what is held, shrunk and released', async () => {
    const budget = createByteBudget(100);
    const lease = await held(budget, 60);
    expect(budget.used).to.equal(60);
    lease.shrinkTo(10);
    lease.shrinkTo(50);
    expect(budget.used).to.equal(10);
    lease.release();
    lease.release();
    expect(budget.used).to.equal(0);
  });

  it('admits in the order of asking: a large one is not overtaken by small ones', async () => {
    const budget = createByteBudget(100);
    const first = await held(budget, 80);
    const order: string[] = [];
    const large = budget.acquire(90, patientMs).then((lease) => (order.push('large'), lease));
    const small = budget.acquire(10, patientMs).then((lease) => (order.push('small'), lease));
    await Promise.resolve();
    expect(order).to.deep.equal([]);
    first.release();
    await Promise.all([large, small]);
    expect(order).to.deep.equal(['large', 'small']);
    expect(budget.used).to.equal(100);
  });

  it('admits no more than fits', async () => {
    const budget = createByteBudget(100);
    const first = await held(budget, 100);
    const second = budget.acquire(60, patientMs);
    const third = budget.acquire(60, 20);
    first.release();
    (await second)?.shrinkTo(50);
    expect(await third).to.equal(undefined);
    expect(budget.used).to.equal(50);
  });

  it('gives nothing when the wait is over, and lets the next one through that fits', async () => {
    const budget = createByteBudget(100);
    const first = await held(budget, 80);
    const impatient = budget.acquire(90, 10);
    const behind = budget.acquire(20, patientMs);
    expect(await impatient).to.equal(undefined);
    expect(await behind).to.not.equal(undefined);
    expect(budget.used).to.equal(100);
    first.release();
    expect(budget.used).to.equal(20);
  });

  it('takes a wish above the capacity for all of it', async () => {
    const budget = createByteBudget(100);
    const lease = await held(budget, 1000);
    expect(budget.used).to.equal(100);
    lease.release();
    expect(budget.used).to.equal(0);
  });

  describe('a lease that grows', () => {
    it('counts what it has grown to, at most the capacity', async () => {
      const budget = createByteBudget(100);
      const lease = budget.open();
      expect(budget.used).to.equal(0);
      expect([lease.tryGrowTo(30), lease.tryGrowTo(20)]).to.deep.equal([true, true]);
      expect(budget.used).to.equal(30);
      expect(await lease.growTo(1000, 0)).to.equal(true);
      expect(budget.used).to.equal(100);
      lease.release();
      expect(budget.used).to.equal(0);
    });

    it('waits for room, and keeps what it has when there is none in time', async () => {
      const budget = createByteBudget(1000);
      const other = await held(budget, 700);
      const lease = budget.open();
      expect(lease.tryGrowTo(200)).to.equal(false);
      expect(lease.tryGrowTo(100)).to.equal(true);
      expect(await lease.growTo(800, 10)).to.equal(false);
      expect(budget.used).to.equal(800);
      const growing = lease.growTo(800, patientMs);
      expect(budget.isContended).to.equal(true);
      other.release();
      expect(await growing).to.equal(true);
      expect([budget.used, budget.isContended]).to.deep.equal([800, false]);
    });

    it('stops waiting when it is released, and gives back what it has', async () => {
      const budget = createByteBudget(1000);
      const other = await held(budget, 700);
      const lease = budget.open();
      lease.tryGrowTo(100);
      const growing = lease.growTo(900, patientMs);
      lease.release();
      expect(await growing).to.equal(false);
      other.release();
      expect(budget.used).to.equal(0);
    });

    it('is not kept up by larger ones when it is very small, and those leave it some room', async () => {
      const budget = createByteBudget(1000);
      const [large, waiting, small] = [budget.open(), budget.open(), budget.open()];
      expect(large.tryGrowTo(800)).to.equal(true);
      const growing = waiting.growTo(100, patientMs);
      expect(budget.isContended).to.equal(true);
      expect(small.tryGrowTo(15)).to.equal(true);
      large.release();
      expect(await growing).to.equal(true);
    });
  });

  it('refuses a capacity that is no positive integer', () => {
    for (const capacity of [0, -1, 1.5, NaN]) expect(() => createByteBudget(capacity)).to.throw(TypeError, 'capacity');
  });
});
