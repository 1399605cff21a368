import { expect } from 'chai';
import { runPeriodically } from '../../../services/platform/process/periodic-job.ts';
import { createLifecycle } from '../../../services/platform/process/lifecycle.ts';
import { createPool, type Pool } from '../../../services/platform/postgres/pool.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/wait.ts';
import { captureLog } from '../captured-log.ts';

const hourMs = 3_600_000;

describe('runPeriodically', () => {
  let test: TestDatabase;
  let database: Pool;
  before(async () => {
    test = await createTestDatabase();
    database = createPool(test.url, { schema: 'public', log: silentLog });
  });
  after(async () => {
    await database.close();
    await test.drop();
  });

  it('works at once and then at its interval, until it is stopped', async () => {
    const lifecycle = createLifecycle(silentLog);
    let rounds = 0;
    runPeriodically({ database, lifecycle, log: silentLog }, { name: 'often', everyMs: 5, work: () => Promise.resolve(void rounds++) });
    await eventually(() => rounds >= 3);
    await lifecycle.stop();
    const stoppedAt = rounds;
    await database.whileLocked('signalbox.often', () => Promise.resolve()); // a full round trip, in which another round would have begun
    expect(rounds).to.equal(stoppedAt);
  });

  it('does not wait for its interval when it is stopped, but for the work in hand', async () => {
    const lifecycle = createLifecycle(silentLog);
    const working = Promise.withResolvers<void>();
    const order: string[] = [];
    runPeriodically(
      { database, lifecycle, log: silentLog },
      {
        name: 'seldom',
        everyMs: hourMs,
        work: async () => {
          order.push('begins');
          await working.promise;
          order.push('ends');
        },
      },
    );
    await eventually(() => order.length === 1);
    const stopped = lifecycle.stop().then(() => order.push('stopped'));
    working.resolve();
    await stopped;
    expect(order).to.deep.equal(['begins', 'ends', 'stopped']);
  });

  it('leaves the work to one replica at a time', async () => {
    const lifecycles = [createLifecycle(silentLog), createLifecycle(silentLog)];
    let atOnce = 0;
    let most = 0;
    let rounds = 0;
    for (const lifecycle of lifecycles) {
      const work = async () => {
        most = Math.max(most, ++atOnce);
        await new Promise((resolve) => setTimeout(resolve, 2));
        atOnce--;
        rounds++;
      };
      runPeriodically({ database, lifecycle, log: silentLog }, { name: 'shared', everyMs: 1, work });
    }
    await eventually(() => rounds >= 20);
    await Promise.all(lifecycles.map((lifecycle) => lifecycle.stop()));
    expect(most).to.equal(1);
  });

  it('logs a round that failed and comes round again', async () => {
    const { log, lines } = captureLog();
    const lifecycle = createLifecycle(silentLog);
    let rounds = 0;
    const work = () => (++rounds === 1 ? Promise.reject(new Error('no luck')) : Promise.resolve());
    runPeriodically({ database, lifecycle, log }, { name: 'unlucky', everyMs: 5, work });
    await eventually(() => rounds >= 2);
    await lifecycle.stop();
    expect(lines()).to.have.length(1);
    expect(lines()[0]).to.include({ level: 'warn', job: 'unlucky' });
  });
});
