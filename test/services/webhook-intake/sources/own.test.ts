// The source of Signalbox' own events: from the outbox of a service, by the platform's poster, into the event log and to a person.
import { expect } from 'chai';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { startEvents } from '../../../../services/platform/events/events.ts';
import { signStandard } from '../../../../services/platform/http/standard-webhooks.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { createPool, type Pool } from '../../../../services/platform/postgres/pool.ts';
import { createLifecycle } from '../../../../services/platform/process/lifecycle.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { signalbox } from '../../../../services/webhook-intake/sources/own.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { migrations } from '../../webhook-relay/relay.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { type Ground, post, secrets, startIntake } from './ground.ts';

describe('POST /signalbox', () => {
  let intake: IntakeDatabase;
  let ground: Ground;
  let relay: TestDatabase;
  let pool: Pool;
  before(async () => {
    intake = await createIntakeDatabase();
    const rules = parseRules('rules: [{ name: limits, when: { event: broker.*, payload: { /data/percent: 80 } }, push: [operators] }]');
    ground = await startIntake(intake.pool, [signalbox], { rules });
    relay = await createTestDatabase({ schema: 'relay', migrations });
    pool = createPool(relay.url, { schema: 'relay', log: silentLog });
  });
  after(async () => {
    await pool.close();
    await relay.drop();
    await ground.close();
    await intake.close();
  });
  afterEach(() => intake.empty());

  const stored = () => intake.rows('select event, score, delivery_id as key, repository, sender from events order by stored_at, id');

  it('stores what the outbox of a service posts, once, with a notice for the rules', async () => {
    const lifecycle = createLifecycle(silentLog);
    const config = { eventsUrl: `${ground.url}/signalbox`, eventsSecrets: secrets.map((one) => new Secret(one)), ownEventsDays: 7 };
    const parts = { deployable: 'lamps', database: pool, lifecycle, log: silentLog, metrics: createMetrics(), clock: () => new Date(), timing: { pollMs: 10 } };
    const events = startEvents(config, parts);
    try {
      const data = { title: 'Near its limit', text: 'one\ntwo', url: 'https://signals.example/', isFailure: true, percent: 80 };
      await pool.transaction((inTransaction) =>
        events.add(inTransaction, [
          { type: 'broker.near_limit', object: 'BROKER_URL_1', data, at: new Date() },
          { type: 'lamp.lit', object: 'lamp', data: {}, at: new Date() },
        ]),
      );
      events.wake();
      await eventually(async () => (await intake.count('events')) === 2);
      const { rows } = await pool.driver.query<{ id: string }>('select id from own_events order by sequence');
      expect(await stored()).to.have.deep.members([
        { event: 'broker.near_limit', score: 8, key: rows[0]?.id, repository: null, sender: null },
        { event: 'lamp.lit', score: 4, key: rows[1]?.id, repository: null, sender: null },
      ]);
      expect(await intake.rows('select rule, title, text, url from outbox')).to.deep.equal([
        { rule: 'limits', title: 'Near its limit', text: 'one\ntwo', url: 'https://signals.example/' },
      ]);
    } finally {
      await lifecycle.stop();
    }
  });

  it('knows a repeat by its id, and refuses other secrets, old times and changed bodies', async () => {
    const body = '{"type":"lamp.lit","timestamp":"2026-01-05T08:00:00.000Z","data":{"title":"Lamp"}}';
    const seconds = Math.floor(Date.now() / 1000);
    const signed = (id: string, { key = secrets[1], timestamp = seconds }: { key?: string; timestamp?: number } = {}) =>
      signStandard([new Secret(key)], { id, timestamp, body });
    const statusOf = async (headers: Readonly<Record<string, string>>, sent = body) => (await post(`${ground.url}/signalbox`, { body: sent, headers })).status;
    expect(await statusOf(signed('one'))).to.equal(202);
    expect(await statusOf(signed('one', { timestamp: seconds - 60 }))).to.equal(202);
    for (const headers of [{}, signed('two', { key: 'another secret of another one' }), signed('two', { timestamp: seconds - 301 })])
      expect(await statusOf(headers)).to.equal(401);
    expect(await statusOf(signed('two'), `${body} `)).to.equal(401);
    expect(await stored()).to.deep.equal([{ event: 'lamp.lit', score: 4, key: 'one', repository: null, sender: null }]);
  });
});
