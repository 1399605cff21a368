// The event of a connection that is near its limit: when it is sent, and how often. A real database.
import { expect } from 'chai';
import { createOutbox } from '../../../../services/platform/events/events.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { watchLimits } from '../../../../services/webhook-relay/usage/near-limit.ts';
import { createUsageStore } from '../../../../services/webhook-relay/usage/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { migrations } from '../relay.ts';

describe('the watch over limits', () => {
  let test: TestDatabase;
  let database: Pool;
  let lifecycles: ReturnType<typeof createLifecycle>[];
  let used: { messageCount: number; monthlyLimit: number; period: string };
  let looks: number;
  beforeEach(async () => {
    test = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(test.url, { schema: 'relay', log: silentLog });
    [lifecycles, looks] = [[], 0];
    used = { messageCount: 0, monthlyLimit: 100, period: '2026-03' };
  });
  afterEach(async () => {
    for (const lifecycle of lifecycles) await lifecycle.stop();
    await database.close();
    await test.drop();
  });

  function watch({ percent = 80, isOn = true } = {}): void {
    const lifecycle = createLifecycle(silentLog);
    lifecycles.push(lifecycle);
    const usage = () => {
      looks += 1;
      const { messageCount, monthlyLimit, period } = used;
      const one = {
        broker: 'BROKER_URL_1',
        messageCount,
        monthlyLimit,
        remaining: Math.max(0, monthlyLimit - messageCount),
        limitReached: false,
        limitSource: 'default' as const,
      };
      return Promise.resolve({ period, brokers: [one, { ...one, broker: 'BROKER_URL_2', messageCount: 0, monthlyLimit: 0 }] });
    };
    watchLimits({
      database,
      usage,
      percent,
      outbox: createOutbox({ eventsUrl: isOn ? 'http://127.0.0.1:1/signalbox' : undefined }),
      wake: () => undefined,
      lifecycle,
      log: silentLog,
      clock: () => new Date(),
      everyMs: 5,
    });
  }
  const told = async () => {
    const { rows } = await database.driver.query<{ type: string; object: string; data: Readonly<Record<string, unknown>> }>(
      'select type, object, data from own_events order by sequence',
    );
    return rows;
  };
  /** Two whole looks. */
  const looked = async () => {
    const before = looks;
    await eventually(() => looks > before + 1);
  };

  it('tells it once from the percentage on, by several relays together', async () => {
    watch();
    watch();
    used = { ...used, messageCount: 79 };
    await looked();
    expect(await told()).to.deep.equal([]);
    used = { ...used, messageCount: 80 };
    await eventually(async () => (await told()).length === 1);
    used = { ...used, messageCount: 100 };
    await looked();
    expect(await told()).to.deep.equal([
      {
        type: 'broker.near_limit',
        object: 'BROKER_URL_1',
        data: {
          title: 'BROKER_URL_1 has used 80 % of its messages of 2026-03',
          text: '80 of 100 messages are used, 20 remain.',
          url: null,
          isFailure: true,
          broker: 'BROKER_URL_1',
          period: '2026-03',
          percent: 80,
          messageCount: 80,
          monthlyLimit: 100,
          remaining: 20,
        },
      },
    ]);
  });

  it('tells it again in the next month, for another limit, and after a reset', async () => {
    watch();
    used = { ...used, messageCount: 90 };
    await eventually(async () => (await told()).length === 1);
    used = { ...used, period: '2026-04' };
    await eventually(async () => (await told()).length === 2);
    used = { ...used, messageCount: 190, monthlyLimit: 200 };
    await eventually(async () => (await told()).length === 3);
    await createUsageStore(database).reset('BROKER_URL_1', '2026-04');
    await eventually(async () => (await told()).length === 4);
  });

  it('stores nothing without Events__Url, and tells of no connection that may publish nothing', async () => {
    watch({ isOn: false });
    used = { ...used, messageCount: 100 };
    await looked();
    expect(await told()).to.deep.equal([]);
  });
});
