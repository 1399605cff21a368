// Reservations on a real database: exact, coalesced, by the active connection, given back where they came from.
import { expect } from 'chai';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createDatabaseState } from '../../../../services/webhook-relay/database.ts';
import { createReservations, type Reservations, type ReserveResult } from '../../../../services/webhook-relay/usage/reservations.ts';
import { createUsageStore, type Quota, type UsageStore } from '../../../../services/webhook-relay/usage/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { counts, migrations } from '../relay.ts';

const quota = (n: number, monthlyLimit: number): Quota => ({ broker: `BROKER_URL_${n}`, monthlyLimit, limitSource: 'environment' });

describe('reservations', () => {
  let test: TestDatabase;
  let database: Pool;
  let store: UsageStore;
  const clock = { now: new Date('2026-01-31T23:59:59.999Z') };
  const stopping = new AbortController();
  before(async () => {
    test = await createTestDatabase({ schema: 'relay', migrations });
    database = createPool(test.url, { schema: 'relay', log: silentLog });
    store = createUsageStore(database);
  });
  beforeEach(async () => {
    clock.now = new Date('2026-01-31T23:59:59.999Z');
    await database.driver.query("truncate broker_usage; update active_connection set broker = ''");
  });
  after(async () => {
    stopping.abort();
    await database.close();
    await test.drop();
  });

  const create = (quotas: readonly Quota[], using: Pick<UsageStore, 'reserve' | 'refund'> = store): Reservations =>
    createReservations({
      store: using,
      connections: { quotas },
      database: createDatabaseState(() => store.active(), silentLog, stopping.signal),
      clock: () => clock.now,
    });
  const reserveMany = (from: readonly Reservations[], count: number, unusable: readonly string[] = []) =>
    Promise.all(Array.from({ length: count }, async (_, index) => from[index % from.length]?.reserve(unusable)));
  const brokersOf = (results: readonly (ReserveResult | undefined)[]) =>
    Object.fromEntries(
      [...Map.groupBy(results, (result) => (result?.outcome === 'reserved' ? result.reservation.broker : result?.outcome))].map(([name, group]) => [
        name,
        group.length,
      ]),
    );

  it('gives every last message of each limit to exactly one of many that ask at once, across processes', async () => {
    const quotas = [quota(1, 50), quota(2, 50)];
    const results = await reserveMany([create(quotas), create(quotas), create(quotas)], 300);
    expect(brokersOf(results)).to.deep.equal({ BROKER_URL_1: 50, BROKER_URL_2: 50, exhausted: 200 });
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 50, BROKER_URL_2: 50 });
  });

  it('takes all that wait with one statement', async () => {
    let statements = 0;
    const counting = {
      ...store,
      reserve: (...given: Parameters<UsageStore['reserve']>) => {
        statements += 1;
        return store.reserve(...given);
      },
    };
    await reserveMany([create([quota(1, 1000)], counting)], 500);
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 500 });
    expect(statements).to.be.at.most(2);
  });

  it('names the period and the count of each connection when all are at their limit', async () => {
    const reservations = create([quota(1, 1), quota(2, 0)]);
    await reservations.reserve([]);
    expect(await reservations.reserve([])).to.deep.equal({
      outcome: 'exhausted',
      period: '2026-01',
      counts: [
        { broker: 'BROKER_URL_1', messageCount: 1, monthlyLimit: 1 },
        { broker: 'BROKER_URL_2', messageCount: 0, monthlyLimit: 0 },
      ],
    });
  });

  it('publishes nothing on a connection whose limit is 0', async () => {
    expect(brokersOf(await reserveMany([create([quota(1, 0), quota(2, 9)])], 3))).to.deep.equal({ BROKER_URL_2: 3 });
  });

  it('moves the active connection on when it is at its limit', async () => {
    await reserveMany([create([quota(1, 2), quota(2, 2), quota(3, 2)])], 3);
    expect(await store.active()).to.equal('BROKER_URL_2');
  });

  it('goes round: after the last connection comes the first', async () => {
    await store.activate('BROKER_URL_3');
    const results = await reserveMany([create([quota(1, 2), quota(2, 2), quota(3, 1)])], 2);
    expect(brokersOf(results)).to.deep.equal({ BROKER_URL_3: 1, BROKER_URL_1: 1 });
    expect(await store.active()).to.equal('BROKER_URL_1');
  });

  it('leaves the active connection when it only fails over', async () => {
    const results = await reserveMany([create([quota(1, 2), quota(2, 2)])], 2, ['BROKER_URL_1']);
    expect(brokersOf(results)).to.deep.equal({ BROKER_URL_2: 2 });
    expect(await store.active()).to.equal('');
  });

  it('says which connections have room when none of those can be reached', async () => {
    const reservations = create([quota(1, 1), quota(2, 1)]);
    expect(await reservations.reserve(['BROKER_URL_1', 'BROKER_URL_2'])).to.deep.equal({ outcome: 'unreachable', withRoom: ['BROKER_URL_1', 'BROKER_URL_2'] });
    await reservations.reserve([]);
    expect(await reservations.reserve(['BROKER_URL_2'])).to.deep.equal({ outcome: 'unreachable', withRoom: ['BROKER_URL_2'] });
  });

  it('follows a switch made by another replica with the next message', async () => {
    const reservations = create([quota(1, 9), quota(2, 9)]);
    await reservations.reserve([]);
    await store.activate('BROKER_URL_2');
    expect(brokersOf([await reservations.reserve([])])).to.deep.equal({ BROKER_URL_2: 1 });
  });

  it('rotates away from a connection that was made active at its limit', async () => {
    const reservations = create([quota(1, 1), quota(2, 9)]);
    await reserveMany([reservations], 2);
    await store.activate('BROKER_URL_1');
    expect(brokersOf([await reservations.reserve([])])).to.deep.equal({ BROKER_URL_2: 1 });
    expect(await store.active()).to.equal('BROKER_URL_2');
  });

  it('begins new counts with a new month in UTC', async () => {
    const reservations = create([quota(1, 1)]);
    await reservations.reserve([]);
    expect((await reservations.reserve([])).outcome).to.equal('exhausted');
    clock.now = new Date('2026-02-01T00:00:00.000Z');
    expect((await reservations.reserve([])).outcome).to.equal('reserved');
    expect((await store.stored()).map(({ period, messageCount }) => [period, messageCount])).to.deep.equal([
      ['2026-02', 1],
      ['2026-01', 1],
    ]);
  });

  async function reserved(reservations: Reservations) {
    const result = await reservations.reserve([]);
    if (result.outcome !== 'reserved') throw new Error(`not reserved: ${result.outcome}`);
    return result.reservation;
  }

  it('gives back before it reserves again, so that room which is there is found', async () => {
    const reservations = create([quota(1, 1)]);
    reservations.refund(await reserved(reservations));
    expect((await reservations.reserve([])).outcome).to.equal('reserved');
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 1 });
  });

  it('gives back to the month that it was taken from', async () => {
    const reservations = create([quota(1, 9)]);
    const first = await reserved(reservations);
    clock.now = new Date('2026-02-01T00:00:00.000Z');
    await reserved(reservations);
    reservations.refund(first);
    await reservations.close();
    expect((await store.stored()).map(({ period, messageCount }) => [period, messageCount])).to.deep.equal([
      ['2026-02', 1],
      ['2026-01', 0],
    ]);
  });

  it('gives nothing back to a count that was reset meanwhile', async () => {
    const reservations = create([quota(1, 9)]);
    const first = await reserved(reservations);
    expect(await store.reset('BROKER_URL_1', '2026-01')).to.equal(1);
    await reserved(reservations);
    reservations.refund(first);
    await reservations.close();
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 1 });
  });

  it('gives back many of several counts together', async () => {
    const reservations = create([quota(1, 10), quota(2, 10)]);
    const results = await reserveMany([reservations], 20);
    for (const result of results) if (result?.outcome === 'reserved') reservations.refund(result.reservation);
    await reservations.close();
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 0, BROKER_URL_2: 0 });
  });

  it('never passes a limit while many reserve and give back at once', async () => {
    const quotas = [quota(1, 20), quota(2, 20)];
    const replicas = [create(quotas), create(quotas)];
    let most = 0;
    const watching = setInterval(() => void counts(database).then((now) => (most = Math.max(most, ...Object.values(now)))), 5);
    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const replica = replicas[index % 2];
        const result = await replica?.reserve([]);
        if (index % 3 === 0 && result?.outcome === 'reserved') replica?.refund(result.reservation);
      }),
    );
    clearInterval(watching);
    await Promise.all(replicas.map((replica) => replica.close()));
    const now = await counts(database);
    expect(most).to.be.at.most(20);
    expect(Object.values(now).every((count) => count <= 20)).to.equal(true);
  });

  it('shows the limit that was in force', async () => {
    await reserved(create([quota(1, 7)]));
    await reserved(create([{ broker: 'BROKER_URL_1', monthlyLimit: 9, limitSource: 'default' }]));
    expect(await store.ofPeriod('2026-01')).to.deep.equal([
      { broker: 'BROKER_URL_1', period: '2026-01', messageCount: 2, monthlyLimit: 9, limitSource: 'default' },
    ]);
  });

  it('grants nothing while a lowered limit is below the count', async () => {
    await reserveMany([create([quota(1, 9)])], 5);
    expect((await create([quota(1, 3)]).reserve([])).outcome).to.equal('exhausted');
    expect(await counts(database)).to.deep.equal({ BROKER_URL_1: 5 });
  });

  it('answers at once that the database is down, and reserves again when it is back', async () => {
    let isDown = true;
    const failing = {
      ...store,
      reserve: (...given: Parameters<UsageStore['reserve']>) => (isDown ? Promise.reject(new Error('down')) : store.reserve(...given)),
    };
    const state = createDatabaseState(() => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()), silentLog, stopping.signal);
    const reservations = createReservations({ store: failing, connections: { quotas: [quota(1, 9)] }, database: state, clock: () => clock.now });
    expect((await reserveMany([reservations], 5)).map((result) => result?.outcome)).to.deep.equal(Array.from({ length: 5 }, () => 'databaseDown'));
    expect(state.isUp).to.equal(false);
    isDown = false;
    await eventually(() => state.isUp);
    expect((await reservations.reserve([])).outcome).to.equal('reserved');
  });

  it('does not ask a database that gave no answer to what is given back', async () => {
    let asked = 0;
    const hanging = {
      reserve: (...given: Parameters<UsageStore['reserve']>) => {
        asked += 1;
        return store.reserve(...given);
      },
      refund: () => Promise.reject(new Error('no answer')),
    };
    const reservations = create([quota(1, 9)], hanging);
    reservations.refund(await reserved(reservations));
    expect((await reservations.reserve([])).outcome).to.equal('databaseDown');
    expect(asked).to.equal(1);
  });

  it('asks a second time when an idle connection was cut', async () => {
    const reservations = create([quota(1, 9)]);
    await reserved(reservations);
    let failures = 1;
    const cut = {
      ...store,
      reserve: (...given: Parameters<UsageStore['reserve']>) => (failures-- > 0 ? Promise.reject(new Error('Connection terminated')) : store.reserve(...given)),
    };
    expect((await create([quota(1, 9)], cut).reserve([])).outcome).to.equal('reserved');
  });
});
