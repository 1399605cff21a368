// When quotas will be full, by the traffic of the last days.
import { expect } from 'chai';
import { forecasts, type Quota, shareAtEnd } from '../../../services/webhook-relay/client.ts';

const now = new Date('2026-03-10T12:00:00Z');
const quota = (name: string, messageCount: number, monthlyLimit: number, more: Partial<Quota> = {}): Quota => ({
  name,
  messageCount,
  monthlyLimit,
  isActive: name === 'one',
  isConnected: true,
  ...more,
});
/** A hundred messages a day: the last seven days and the half one of today. */
const steady = Array.from({ length: 8 }, (_, index) => ({ day: `2026-03-${String(3 + index).padStart(2, '0')}`, messageCount: index === 7 ? 50 : 100 }));
const fullAt = (quotas: readonly Quota[], name: string, days = steady) => forecasts(quotas, days, now).get(name)?.fullAt?.toISOString();

describe('the forecast of quotas', () => {
  it('is the day on which the rest is used up', () => {
    expect(fullAt([quota('one', 400, 900)], 'one')).to.equal('2026-03-15T12:00:00.000Z');
  });

  it('is none where the quota lasts until the month ends, and says how much is used then', () => {
    const one = quota('one', 400, 100_000);
    const found = forecasts([one], steady, now).get('one') ?? expect.fail('no forecast');
    expect(found.fullAt).to.equal(null);
    expect(shareAtEnd(found, one, now)).to.be.closeTo(0.0255, 1e-9);
  });

  it('goes on with the next connection, round, and leaves out those that are away', () => {
    const quotas = [quota('zero', 0, 300), quota('one', 800, 900), quota('away', 0, 100, { isConnected: false }), quota('two', 0, 400)];
    const found = forecasts(quotas, steady, now);
    expect([...found].map(([name, { fullAt: at }]) => [name, at?.toISOString().slice(0, 13)])).to.deep.equal([
      ['one', '2026-03-11T12'],
      ['two', '2026-03-15T12'],
      ['zero', '2026-03-18T12'],
    ]);
    expect(found.get('two')?.usedAt(Date.parse('2026-03-11T00:00:00Z'))).to.equal(0);
    expect(found.get('two')?.usedAt(Date.parse('2026-03-13T12:00:00Z'))).to.be.closeTo(200, 1e-6);
    expect(found.get('two')?.usedAt(Date.parse('2026-03-31T00:00:00Z'))).to.equal(400);
  });

  it('counts from the first day with messages, and knows nothing without any', () => {
    expect(fullAt([quota('one', 60, 180)], 'one', [{ day: '2026-03-10', messageCount: 60 }])).to.equal('2026-03-11T12:00:00.000Z');
    expect(forecasts([quota('one', 0, 10)], [], now).size).to.equal(0);
    expect(forecasts([quota('one', 0, 10)], [{ day: '2026-02-01', messageCount: 9 }], now).size).to.equal(0);
  });

  it('is now for a quota that is used up, and takes a limit of nothing', () => {
    expect(fullAt([quota('one', 900, 900)], 'one')).to.equal(now.toISOString());
    const none = quota('one', 0, 0);
    const found = forecasts([none], steady, now).get('one') ?? expect.fail('no forecast');
    expect([found.fullAt?.toISOString(), shareAtEnd(found, none, now)]).to.deep.equal([now.toISOString(), 1]);
  });
});
