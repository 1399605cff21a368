// Which senders a replica keeps counts of, and what of ten minutes.
import { expect } from 'chai';
import { bucketOf, bucketStart, createRecentSenders, createWindow, oldestBucket } from '../../../../services/webhook-relay/senders/recent-senders.ts';

const start = new Date('2026-01-02T03:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

describe('the recent senders of a replica', () => {
  it('forget the one that was silent longest when there are too many', () => {
    const recent = createRecentSenders(2);
    recent.add('first', start);
    recent.add('second', start);
    recent.add('first', after(1));
    recent.add('third', after(2));
    expect(['first', 'second', 'third'].map((login) => recent.total(login, bucketOf(start)))).to.deep.equal([2, 0, 1]);
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
    expect(recent.total('silent', bucketOf(start))).to.equal(0);
  });
});

describe('a window of counts', () => {
  it('adds up what was counted in the last ten minutes, and forgets the rest', () => {
    const window = createWindow();
    window.add(1000, 3);
    window.add(1010, 4);
    expect(window.total(1010)).to.equal(7);
    expect(window.total(1019)).to.equal(7);
    expect(window.total(1020)).to.equal(4);
    expect(window.total(1029)).to.equal(4);
    expect(window.total(1030)).to.equal(0);
  });

  it('takes counts that come late, as long as they still count', () => {
    const window = createWindow();
    window.add(1000, 1);
    window.add(981, 2);
    window.add(980, 100);
    expect(window.total(1000)).to.equal(3);
    expect(window.total(1001)).to.equal(1);
  });

  it('starts over after a long silence', () => {
    const window = createWindow();
    for (let bucket = 1000; bucket < 1020; bucket++) window.add(bucket, 1);
    window.add(9000, 1);
    expect(window.total(9000)).to.equal(1);
  });

  it('can be replaced by counts in any order', () => {
    const window = createWindow();
    window.add(1005, 50);
    window.replace([
      [1010, 1],
      [1003, 2],
      [1010, 4],
    ]);
    expect(window.total(1010)).to.equal(7);
  });

  it('has twenty buckets of half a minute', () => {
    const now = new Date('2026-01-02T03:04:05Z');
    expect(bucketStart(bucketOf(now))).to.deep.equal(new Date('2026-01-02T03:04:00Z'));
    expect(bucketStart(oldestBucket(now))).to.deep.equal(new Date('2026-01-02T02:54:30Z'));
  });
});
