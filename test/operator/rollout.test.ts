import { expect } from 'chai';
import { planRollout, rolloutAnnotation } from '../../services/operator/rollout.ts';

const now = new Date('2026-11-23T12:00:00Z');

describe('a rollout', () => {
  const changedAt = new Date(now.getTime() - 60_000);
  const before = new Date(changedAt.getTime() - 1000);
  for (const [says, workload, changed, expected] of [
    ['rolls a workload that runs with older content', { createdAt: before, rolledFor: 'h0' }, changedAt, 'roll'],
    ['rolls one that started before the content changed', { createdAt: before, rolledFor: undefined }, changedAt, 'roll'],
    ['leaves one that was rolled for it', { createdAt: before, rolledFor: 'h1' }, changedAt, 'keep'],
    ['leaves one that started with the content', { createdAt: now, rolledFor: undefined }, changedAt, 'keep'],
    ['leaves all at the first content', { createdAt: before, rolledFor: undefined }, undefined, 'keep'],
  ] as const)
    it(says, () => expect(planRollout(workload, { hash: 'h1', changedAt: changed }, now)).to.equal(expected));

  it('waits until the content has been the same for three seconds', () => {
    const justNow = new Date(now.getTime() - 1000);
    expect(planRollout({ createdAt: before, rolledFor: 'h0' }, { hash: 'h1', changedAt: justNow }, now)).to.deep.equal({ againAfterMs: 2000 });
  });

  it('is remembered by an annotation of the object, which fits into 63 characters', () => {
    expect(rolloutAnnotation('shop', 'content-hash')).to.equal('signalbox.dev/content-hash-shop');
    expect(rolloutAnnotation('shop', 'key')).to.equal('signalbox.dev/key-shop');
    const [one, other] = ['x'.repeat(200), `${'x'.repeat(199)}y`].map((name) => rolloutAnnotation(name, 'content-hash'));
    expect(one?.split('/')[1]?.length).to.be.at.most(63);
    expect(one).not.to.equal(other);
  });
});
