// Rows that the event log's statement leaves in the outbox, on a real database.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createServiceWorker } from '../../../../services/webhook-intake/forge/service-worker.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { delivery } from '../deliveries.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';

const rules = parseRules(`
rules:
  - { name: issues, when: { event: issues }, smtp: [ada@example.org, bob@example.org], push: [alerts] }
  - { name: high, when: { minimumScore: 7 }, smtp: [ada@example.org] }
`);
const issue = { action: 'opened', issue: { number: 7, title: 'Stuck\0 points' }, repository: { full_name: 'railway/signals' }, sender: { login: 'ada' } };

describe('the outbox', () => {
  let database: IntakeDatabase;
  before(async () => (database = await createIntakeDatabase()));
  after(() => database.close());
  beforeEach(() => database.empty());

  const work = () => createServiceWorker({ database: database.pool, rules, metrics: createMetrics(), log: silentLog });
  const recipients = () => database.rows('select rule, channel, recipient from outbox_recipients order by channel, recipient');

  it('gets a row with the notice for each rule that an event matches, and the event each of its recipients once', async () => {
    expect(await work()([delivery({ event: 'issues', payload: issue, priority: 8 })])).to.deep.equal(['ack']);
    const title = '[railway/signals] issues opened #7: Stuck points';
    expect(await database.rows('select rule, title, text, url from outbox order by rule')).to.deep.equal([
      { rule: 'high', title, text: 'By ada', url: null },
      { rule: 'issues', title, text: 'By ada', url: null },
    ]);
    expect(await recipients()).to.deep.equal([
      { rule: 'issues', channel: 'push', recipient: 'alerts' },
      { rule: 'issues', channel: 'smtp', recipient: 'ada@example.org' },
      { rule: 'issues', channel: 'smtp', recipient: 'bob@example.org' },
    ]);
  });

  it('gets nothing for a duplicate, and nothing for what no rule matches', async () => {
    const one = delivery({ event: 'issues', payload: issue });
    await work()([one, one, delivery({ event: 'push', payload: {} })]);
    await work()([one]);
    expect([await database.count('outbox'), await database.count('outbox_recipients'), await database.count('events')]).to.deep.equal([1, 3, 2]);
  });
});
