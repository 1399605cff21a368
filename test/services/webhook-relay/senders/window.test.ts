// A sender's ten minutes of counts.
import { expect } from 'chai';
import { bucketOf, bucketStart, createWindow, oldestBucket } from '../../../../services/webhook-relay/senders/window.ts';

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
