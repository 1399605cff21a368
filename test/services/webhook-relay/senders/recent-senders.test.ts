// Which senders a replica keeps counts of.
import { expect } from 'chai';
import { createRecentSenders } from '../../../../services/webhook-relay/senders/recent-senders.ts';
import { bucketOf } from '../../../../services/webhook-relay/senders/window.ts';

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
    expect(recent.lately(after(60))).to.deep.equal(['earlier', 'later']);
    expect(recent.lately(after(61))).to.deep.equal(['later']);
  });

  it('are worth asking for by the newest 250 only', () => {
    const recent = createRecentSenders(5000);
    for (let n = 0; n < 3000; n++) recent.add(`sender-${n}`, start);
    const lately = recent.lately(start);
    expect(lately).to.have.length(250);
    expect(lately.at(-1)).to.equal('sender-2999');
  });

  it('are forgotten after ten minutes of silence', () => {
    const recent = createRecentSenders(10);
    recent.add('silent', start);
    recent.lately(after(601));
    expect(recent.total('silent', bucketOf(start))).to.equal(0);
  });
});
