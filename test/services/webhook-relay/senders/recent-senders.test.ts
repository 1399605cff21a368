// Which senders a replica keeps counts of, and what of ten minutes.
import { expect } from 'chai';
import { bucketOf, bucketStart, createRecentSenders, oldestBucket } from '../../../../services/webhook-relay/senders/recent-senders.ts';

const start = new Date('2026-01-02T03:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

describe('the recent senders of a replica', () => {
  it('forget the one that was silent longest when there are too many', () => {
    const recent = createRecentSenders(2);
    recent.add('first', start);
    recent.add('second', start);
    recent.add('first', after(1));
    recent.add('third', after(2));
    expect(['first', 'second', 'third'].map((login) => recent.total(login, start))).to.deep.equal([2, 0, 1]);
  });

  it('are worth asking for when they were seen within a minute', () => {
    const recent = createRecentSenders(10);
    recent.add('earlier', start);
    recent.add('later', after(30));
    expect(recent.active(after(60))).to.deep.equal(['earlier', 'later']);
    expect(recent.active(after(61))).to.deep.equal(['later']);
  });

  it('are worth asking for by the newest 250 only', () => {
    const recent = createRecentSenders(5000);
    for (let n = 0; n < 3000; n++) recent.add(`sender-${n}`, start);
    const active = recent.active(start);
    expect(active).to.have.length(250);
    expect(active.at(-1)).to.equal('sender-2999');
  });

  it('are forgotten after ten minutes of silence', () => {
    const recent = createRecentSenders(10);
    recent.add('silent', start);
    recent.active(after(601));
    expect(recent.total('silent', start)).to.equal(0);
  });
});

describe('the counts of a recent sender', () => {
  /** With events in these buckets. */
  function create(...counts: [bucket: number, events: number][]) {
    const recent = createRecentSenders(10);
    recent.add('octocat', start);
    recent.clear('octocat');
    for (const [bucket, events] of counts) recent.count('octocat', bucket, events);
    return (bucket: number) => recent.total('octocat', bucketStart(bucket));
  }

  it('add up what was counted in the last ten minutes, and leave out the rest', () => {
    const total = create([1000, 3], [1010, 4]);
    expect([1010, 1019, 1020, 1029, 1030].map(total)).to.deep.equal([7, 7, 4, 4, 0]);
  });

  it('hold what comes late, as long as it still counts', () => {
    const total = create([1000, 1], [981, 2], [980, 100]);
    expect([1000, 1001].map(total)).to.deep.equal([3, 1]);
  });

  it('can come in any order, in several parts', () => {
    expect(create([1010, 1], [1003, 2], [1010, 4])(1010)).to.equal(7);
  });

  it('have twenty buckets of half a minute', () => {
    const now = new Date('2026-01-02T03:04:05Z');
    expect(bucketStart(bucketOf(now))).to.deep.equal(new Date('2026-01-02T03:04:00Z'));
    expect(bucketStart(oldestBucket(now))).to.deep.equal(new Date('2026-01-02T02:54:30Z'));
  });
});
