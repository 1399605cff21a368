// The stock of reservations on a real database: what is reserved ahead under load, and when it goes back.
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createReservations, type Reservations, type ReservationsParts, type ReserveResult } from '../../../../services/webhook-relay/usage/reservations.ts';
import { createUsageStore, type Quota, type UsageStore } from '../../../../services/webhook-relay/usage/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { counts, migrations } from '../relay.ts';

const far = 1_000_000;
const quota = (n: number, monthlyLimit = far): Quota => ({ broker: `BROKER_URL_${n}`, monthlyLimit, limitSource: 'environment' });
/** So long that it never ends by itself within a test. */
const kept = 600_000;

describe('the stock of reservations', () => {
  let test: TestDatabase;
  let database: Pool;
  let store: UsageStore;
  let opened: Reservations[];
  let inFlight: Set<Promise<unknown>>;
  let quotas: readonly Quota[];
  const clock = { now: new Date('2026-01-15T12:00:00Z') };
  before(async () => {
    test = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(test.url, { schema: 'relay', log: silentLog });
    store = createUsageStore(database);
  });
  beforeEach(async () => {
    opened = [];
    inFlight = new Set();
    quotas = [quota(1), quota(2)];
    clock.now = new Date('2026-01-15T12:00:00Z');
    await database.driver.query("truncate broker_usage; update active_connection set broker = ''");
  });
  afterEach(() => Promise.all(opened.map((reservations) => reservations.close())));
  after(async () => {
    await database.close();
    await test.drop();
  });

  function create(options: Partial<ReservationsParts> = {}): Reservations {
    const state = { isUp: true, failed: (error: unknown) => expect.fail(String(error)) };
    const { store: reached = store, ...others } = options;
    const reserve: UsageStore['reserve'] = (...given) => {
      const statement = reached.reserve(...given);
      inFlight.add(statement);
      return statement.finally(() => inFlight.delete(statement));
    };
    const reservations = createReservations({
      store: { ...reached, reserve },
      connections: {
        get quotas() {
          return quotas;
        },
      },
      database: state,
      clock: () => clock.now,
      stockMs: kept,
      ...others,
    });
    opened.push(reservations);
    return reservations;
  }

  /** Many clients, each of which asks again as soon as it was answered. */
  async function load(reservations: Reservations, each = 20): Promise<ReserveResult[]> {
    const results: ReserveResult[] = [];
    const client = async () => {
      for (let asked = 0; asked < each; asked++) {
        results.push(await reservations.reserve([]));
        await turn();
      }
    };
    await Promise.all(Array.from({ length: 20 }, client));
    return results;
  }

  const total = async () => Object.values(await counts(database)).reduce((sum, count) => sum + count, 0);

  /** @returns how many were reserved until more was counted than that, and no statement is left that counts further ones */
  async function fill(reservations: Reservations): Promise<number> {
    let reserved = 0;
    await eventually(async () => {
      reserved += (await load(reservations)).length;
      await Promise.all(inFlight);
      return (await total()) > reserved;
    });
    return reserved;
  }

  const next = async (reservations: Reservations) => {
    const result = await reservations.reserve([]);
    if (result.outcome !== 'reserved') throw new Error(result.outcome);
    return result.reservation;
  };

  it('is spent without waiting for a statement', async () => {
    const hanging = Promise.withResolvers<undefined>();
    let isHanging = false;
    const reserve = async (...given: Parameters<UsageStore['reserve']>) => {
      if (isHanging) await hanging.promise;
      return store.reserve(...given);
    };
    const reservations = create({ store: { ...store, reserve } });
    const reserved = await fill(reservations);
    isHanging = true;
    await next(reservations);
    hanging.resolve(undefined);
    await reservations.close();
    expect(await total()).to.equal(reserved + 1);
  });

  it('is none for a client that waits for each answer', async () => {
    const reservations = create();
    for (let count = 1; count <= 20; count++) {
      await next(reservations);
      expect(await total()).to.equal(count);
    }
  });

  it('goes back when the traffic pauses', async () => {
    const reservations = create({ stockMs: 50 });
    const reserved = (await load(reservations)).length;
    await eventually(async () => expect(await total()).to.equal(reserved));
  });

  it('goes back on close', async () => {
    const reservations = create();
    const reserved = await fill(reservations);
    await reservations.close();
    expect(await total()).to.equal(reserved);
  });

  it('stays counted when the process is killed', async () => {
    const reservations = create({ store: { ...store, refund: () => new Promise<number>(() => undefined) } });
    const reserved = await fill(reservations);
    const counted = await total();
    opened = [];
    reservations.changed(); // nothing that it returns arrives
    await next(create());
    expect(await total()).to.equal(counted + 1);
    expect(counted).to.be.above(reserved);
  });

  it('is left out of what is shown, also under load', async () => {
    const reservations = create();
    const reserved = await fill(reservations);
    expect(await reservations.withoutStock(total)).to.equal(reserved);
    const results: ReserveResult[] = [];
    const loading = load(reservations, 200).then((all) => results.push(...all));
    const shown = await reservations.withoutStock(total);
    await loading;
    expect(shown).to.be.within(reserved, reserved + results.length);
    expect(await reservations.withoutStock(total)).to.equal(reserved + results.length);
  });

  it('is nothing near a limit: every last message goes to exactly one of many that ask, across replicas', async () => {
    quotas = [quota(1, 50_000)];
    await database.driver.query(`insert into broker_usage (broker, period, message_count, monthly_limit, limit_source)
      values ('BROKER_URL_1', '2026-01', 39400, 50000, 'environment')`);
    const statements: { readonly room: number; readonly ahead: number }[] = [];
    const watched = {
      ...store,
      reserve: async (...given: Parameters<UsageStore['reserve']>) => {
        const candidates = await store.reserve(...given);
        for (const { granted, messageCount } of candidates)
          statements.push({ room: 50_000 - messageCount, ahead: Math.max(0, (granted ?? 0) - given[2].wanted) });
        return candidates;
      },
    };
    const results = (await Promise.all([create({ store: watched }), create({ store: watched })].map((replica) => load(replica, 300)))).flat();
    expect(Map.groupBy(results, ({ outcome }) => outcome).get('reserved')).to.have.lengthOf(10_600);
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 50_000 });
    expect(statements.some(({ ahead }) => ahead > 0)).to.equal(true);
    expect(statements.filter(({ room }) => room < 10_000).every(({ ahead }) => ahead === 0)).to.equal(true);
  });

  it('is not spent once another connection was made active here', async () => {
    const reservations = create();
    await fill(reservations);
    await store.activate('BROKER_URL_2');
    reservations.changed();
    expect(await next(reservations)).to.include({ broker: 'BROKER_URL_2' });
  });

  it('is not made by a statement from before the switch', async () => {
    const answered = Promise.withResolvers<undefined>();
    let isSlow = false;
    const reserve = async (...given: Parameters<UsageStore['reserve']>) => {
      const candidates = await store.reserve(...given);
      const [, , { wanted, ahead }] = given;
      if (isSlow && wanted + ahead > 0) await answered.promise; // a statement without waiting deliveries reserves nothing
      return candidates;
    };
    const reservations = create({ store: { ...store, reserve } });
    await fill(reservations);
    const counted = await total();
    isSlow = true;
    while (!(reservations.reserve([]) instanceof Promise)); // until one waits for a statement
    await eventually(async () => (await total()) > counted);
    await store.activate('BROKER_URL_2');
    reservations.changed();
    const after = next(reservations);
    answered.resolve(undefined);
    expect(await after).to.include({ broker: 'BROKER_URL_2' });
  });

  it('is spent for a moment at most after another replica made another connection active', async () => {
    const reservations = create({ stockMs: 50 });
    await load(reservations);
    await store.activate('BROKER_URL_2');
    await eventually(async () => expect(await next(reservations)).to.include({ broker: 'BROKER_URL_2' }), { withinMs: 5000 });
    await reservations.close();
    expect((await load(create(), 1)).every((result) => result.outcome === 'reserved' && result.reservation.broker === 'BROKER_URL_2')).to.equal(true);
  });

  it('is never spent in another month, and goes back to its own', async () => {
    const reservations = create();
    const reserved = await fill(reservations);
    clock.now = new Date('2026-02-01T00:00:00Z');
    expect(await next(reservations)).to.include({ period: '2026-02' });
    await reservations.close();
    expect((await store.stored()).map(({ period, messageCount }) => [period, messageCount])).to.deep.equal([
      ['2026-02', 1],
      ['2026-01', reserved],
    ]);
  });

  it('leaves a count alone that was reset meanwhile', async () => {
    const reservations = create();
    await fill(reservations);
    await store.reset('BROKER_URL_1', '2026-01');
    reservations.changed();
    await next(reservations);
    await reservations.close();
    expect(await total()).to.equal(1);
  });

  it('is not spent once a reload has lowered the limit', async () => {
    const reservations = create();
    await fill(reservations);
    quotas = [quota(1, 0), quota(2, 0)];
    reservations.changed();
    expect((await reservations.reserve([])).outcome).to.equal('exhausted');
  });
});
