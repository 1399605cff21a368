// The overview of usage where the database takes its time.
import { expect } from 'chai';
import type { Quota, UsageRow } from '../../../../services/webhook-relay/usage/store.ts';
import { createOverviews } from '../../../../services/webhook-relay/usage/usage.ts';

const quotas: readonly Quota[] = [
  { broker: 'BROKER_URL_1', monthlyLimit: 10, limitSource: 'environment' },
  { broker: 'BROKER_URL_2', monthlyLimit: 10, limitSource: 'environment' },
];
const row: UsageRow = { broker: 'BROKER_URL_2', period: '2026-03', messageCount: 4, monthlyLimit: 10, limitSource: 'environment' };

describe('the recent overview', () => {
  it('is the last that is known while the database hangs, and the new one once it has answered', async () => {
    let counts = Promise.resolve([row]);
    const overviews = createOverviews({
      store: { ofPeriod: () => counts, active: () => Promise.resolve('BROKER_URL_2') },
      quotas: () => quotas,
      database: { isUp: true, failed: () => expect.fail('it has not failed') },
      clock: () => new Date('2026-03-15T12:00:00Z'),
    });
    const countsOf = async () => (await overviews.recent()).brokers.map(({ messageCount }) => messageCount);
    const known = await overviews.recent();
    expect(known).to.deep.include({ period: '2026-03', active: 'BROKER_URL_2' });
    const hanging = Promise.withResolvers<UsageRow[]>();
    counts = hanging.promise;
    overviews.changed();
    expect(await overviews.recent()).to.deep.equal(known);
    hanging.resolve([{ ...row, messageCount: 5 }]);
    await hanging.promise;
    expect(await countsOf()).to.deep.equal([0, 5]);
  });
});
