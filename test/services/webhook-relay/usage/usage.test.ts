// The usage routes: what is counted, shown, deleted and reset.
import { expect } from 'chai';
import type { Quota, UsageRow } from '../../../../services/webhook-relay/usage/store.ts';
import { createUsage } from '../../../../services/webhook-relay/usage/usage.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { administer, counts, deliver, migrations, startRelay, type TestRelay } from '../relay.ts';

describe('broker usage', () => {
  let database: TestDatabase;
  let relay: TestRelay;
  const clock = { now: new Date('2026-03-15T12:00:00Z') };
  before(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { BROKER_URL_2: database.url, BROKER_URL_10: `${database.url}?schema=broker_ten`, BROKER_LIMIT_2: '3' };
    relay = await startRelay({ databaseUrl: database.url, environment, clock: () => clock.now });
  });
  after(async () => {
    await relay.close();
    await database.drop();
  });
  beforeEach(async () => {
    clock.now = new Date('2026-03-15T12:00:00Z');
    await relay.database.driver.query(`truncate broker_usage; update active_connection set broker = '';
      insert into broker_usage (broker, period, message_count, monthly_limit, limit_source) values
        ('BROKER_URL_10', '2026-01', 4, 10, 'environment'), ('BROKER_URL_2', '2026-01', 10, 10, 'default'),
        ('BROKER_URL_2', '2026-02', 2, 3, 'environment'), ('BROKER_URL_7', '2026-03', 6, 9, 'environment')`);
  });

  const second = { broker: 'BROKER_URL_2', monthlyLimit: 3, limitSource: 'environment' };
  const tenth = { broker: 'BROKER_URL_10', monthlyLimit: 2_000_000, limitSource: 'default' };
  // Not configured any more, but it was used this month, and shown with the limit that was in force.
  const removed = { broker: 'BROKER_URL_7', messageCount: 6, monthlyLimit: 9, limitSource: 'environment', remaining: 3, limitReached: false };
  const unused = { messageCount: 0, limitReached: false };
  const current = { period: '2026-03', brokers: [{ ...second, ...unused, remaining: 3 }, { ...tenth, ...unused, remaining: 2_000_000 }, removed] };
  const january = {
    period: '2026-01',
    brokers: [
      { broker: 'BROKER_URL_2', messageCount: 10, monthlyLimit: 10, limitSource: 'default', remaining: 0, limitReached: true },
      { broker: 'BROKER_URL_10', messageCount: 4, monthlyLimit: 10, limitSource: 'environment', remaining: 6, limitReached: false },
    ],
  };
  const february = { period: '2026-02', brokers: [{ ...second, messageCount: 2, remaining: 1, limitReached: false }] };

  describe('GET /broker/usage/current', () => {
    it('shows every broker with its effective limit and the messages that remain', async () => {
      const { status, body } = await administer(relay.url, 'GET', '/Broker/Usage/Current');
      expect(status).to.equal(200);
      expect(body).to.deep.equal(current);
    });

    it('counts each message, and says when the limit is reached', async () => {
      for (let left = 3; left > 0; left--) await deliver(relay.url);
      const { body } = await administer(relay.url, 'GET', '/broker/usage/current');
      expect(body).to.have.deep.nested.property('brokers[0]', { ...second, messageCount: 3, remaining: 0, limitReached: true });
    });

    it('begins again with a new month', async () => {
      await deliver(relay.url);
      clock.now = new Date('2026-04-01T00:00:00Z');
      const { body } = await administer(relay.url, 'GET', '/broker/usage/current');
      expect(body).to.deep.equal({ period: '2026-04', brokers: current.brokers.slice(0, 2) });
    });
  });

  describe('GET /broker/usage', () => {
    it('shows every stored month, newest first, with the limits that were in force', async () => {
      const { status, body } = await administer(relay.url, 'GET', '/broker/usage');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ periods: [current, february, january] });
    });
  });

  const periods = async () => ((await administer(relay.url, 'GET', '/broker/usage')).body['periods'] as { period: string }[]).map(({ period }) => period);

  describe('DELETE /broker/usage?olderThan', () => {
    it('deletes the months strictly before it', async () => {
      const { status, body } = await administer(relay.url, 'DELETE', '/broker/usage?olderThan=2026-02');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ deleted: 2 });
      expect(await periods()).to.deep.equal(['2026-03', '2026-02']);
    });

    it('deletes months after the current one, too, when they lie before it', async () => {
      await relay.database.driver.query(`insert into broker_usage (broker, period, message_count, monthly_limit, limit_source) values
        ('BROKER_URL_2', '2026-04', 1, 3, 'environment'), ('BROKER_URL_2', '2026-05', 1, 3, 'environment')`);
      expect((await administer(relay.url, 'DELETE', '/broker/usage?olderThan=2026-05')).body).to.deep.equal({ deleted: 4 });
      expect(await periods()).to.deep.equal(['2026-05', '2026-03']);
    });

    it('never deletes the current month, even if it lies before olderThan', async () => {
      const { body } = await administer(relay.url, 'DELETE', '/broker/usage?olderThan=2099-01');
      expect(body).to.deep.equal({ deleted: 3 });
      expect((await administer(relay.url, 'GET', '/broker/usage')).body).to.deep.equal({ periods: [current] });
    });

    for (const query of ['', '?olderThan=', '?olderThan=2026-13', '?olderThan=2026-1', '?olderThan=202601', '?olderThan=2026-01-01']) {
      it(`answers 400 to '${query}' and deletes nothing`, async () => {
        const { status, body } = await administer(relay.url, 'DELETE', `/broker/usage${query}`);
        expect(status).to.equal(400);
        expect(body['errors']).to.have.property('olderThan');
        expect(await periods()).to.have.lengthOf(3);
      });
    }
  });

  describe('DELETE /broker/usage/{period}', () => {
    it('deletes one month', async () => {
      const { status, body } = await administer(relay.url, 'DELETE', '/broker/usage/2026-01');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ deleted: 2 });
      expect(await periods()).to.deep.equal(['2026-03', '2026-02']);
    });

    it('answers 400 to the current month', async () => {
      const { status, body } = await administer(relay.url, 'DELETE', '/broker/usage/2026-03');
      expect(status).to.equal(400);
      expect(body['type']).to.equal('urn:signalbox:problem:current-period');
      expect(await periods()).to.have.lengthOf(3);
    });

    it('finds nothing to delete in a month that is not stored', async () => {
      expect((await administer(relay.url, 'DELETE', '/broker/usage/2031-07')).body).to.deep.equal({ deleted: 0 });
    });

    for (const period of ['2026-00', '26-01', 'current', '2026']) {
      it(`answers 400 to '${period}'`, async () => {
        const { status, body } = await administer(relay.url, 'DELETE', `/broker/usage/${period}`);
        expect(status).to.equal(400);
        expect(body['errors']).to.have.property('period');
      });
    }
  });

  describe('DELETE /broker/usage/current/{broker}', () => {
    it('resets the count of that broker only, and opens it with a full month of capacity', async () => {
      for (let left = 4; left > 0; left--) await deliver(relay.url);
      expect(await counts(relay.database)).to.include({ BROKER_URL_10: 1 });
      const { status, body } = await administer(relay.url, 'DELETE', '/broker/usage/current/BROKER_URL_2');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ deleted: 1 });
      const usage = await administer(relay.url, 'GET', '/broker/usage/current');
      expect(usage.body).to.have.deep.nested.property('brokers[0]', current.brokers[0]);
      expect(usage.body).to.have.nested.property('brokers[1].messageCount', 1);
      await administer(relay.url, 'POST', '/Broker/switch/1');
      expect((await deliver(relay.url)).body['broker']).to.equal('BROKER_URL_2');
    });

    it('resets a broker that is not configured any more', async () => {
      expect((await administer(relay.url, 'DELETE', '/broker/usage/current/BROKER_URL_7')).body).to.deep.equal({ deleted: 1 });
    });

    it('has nothing to reset where nothing was published', async () => {
      expect((await administer(relay.url, 'DELETE', '/broker/usage/current/broker_url_10')).body).to.deep.equal({ deleted: 0 });
    });

    for (const name of ['BROKER_URL_4', 'unknown', '%20']) {
      it(`answers 404 to the unknown broker '${name}', and names those that there are`, async () => {
        const { status, body } = await administer(relay.url, 'DELETE', `/broker/usage/current/${name}`);
        expect(status).to.equal(404);
        expect(body)
          .to.have.property('detail')
          .that.matches(/^The connections are BROKER_URL_\d+(, BROKER_URL_\d+)*\.$/);
      });
    }
  });
});

const quotas: readonly Quota[] = [
  { broker: 'BROKER_URL_1', monthlyLimit: 10, limitSource: 'environment' },
  { broker: 'BROKER_URL_2', monthlyLimit: 10, limitSource: 'environment' },
];
const row: UsageRow = { broker: 'BROKER_URL_2', period: '2026-03', messageCount: 4, monthlyLimit: 10, limitSource: 'environment' };

describe('the recent overview', () => {
  it('is the last that is known while the database hangs, and the new one once it has answered', async () => {
    let counts = Promise.resolve([row]);
    const unused = () => expect.fail('it is not asked for');
    const usage = createUsage({
      store: {
        ofPeriod: () => counts,
        active: () => Promise.resolve('BROKER_URL_2'),
        stored: unused,
        deleteBefore: unused,
        deletePeriod: unused,
        reset: unused,
      },
      reservations: { withoutStock: (read) => read(), changed: () => undefined },
      connections: { quotas },
      database: { isUp: true, failed: () => expect.fail('it has not failed') },
      clock: () => new Date('2026-03-15T12:00:00Z'),
    });
    const countsOf = async () => (await usage.recent()).brokers.map(({ messageCount }) => messageCount);
    const known = await usage.recent();
    expect(known).to.deep.include({ period: '2026-03', active: 'BROKER_URL_2' });
    const hanging = Promise.withResolvers<UsageRow[]>();
    counts = hanging.promise;
    usage.changed();
    expect(await usage.recent()).to.deep.equal(known);
    hanging.resolve([{ ...row, messageCount: 5 }]);
    await hanging.promise;
    expect(await countsOf()).to.deep.equal([0, 5]);
  });
});
