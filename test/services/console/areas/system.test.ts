// Now and the area of the system, on a real relay and a real intake with one embedded broker.
import { expect } from 'chai';
import { v7 as newId } from 'uuid';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createDeadLetters } from '../../../../services/webhook-intake/dead-letters.ts';
import { toOpen } from '../../../../services/webhook-intake/jobs/dead-letters.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { createRejectedStore, notKept } from '../../../../services/webhook-relay/rejected/store.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { createDashboard, type Dashboard, tokens } from '../../webhook-intake/dashboard/ground.ts';
import { message } from '../../webhook-intake/deliveries.ts';
import { migrations as relayMigrations, startRelay, type TestRelay, token } from '../../webhook-relay/relay.ts';
import { useConsole } from '../service.ts';

describe('console system', function () {
  this.timeout(120_000);
  let place: TestDatabase;
  let relayDatabase: TestDatabase;
  let relay: TestRelay;
  let broker: Broker;
  let intake: Dashboard;
  let now = new Date('2026-03-15T12:00:00Z');
  const console = useConsole(async () => {
    place = await createTestDatabase();
    relayDatabase = await createTestDatabase({ schema: 'relay', migrations: relayMigrations });
    relay = await startRelay({ databaseUrl: relayDatabase.url, environment: { BROKER_URL_1: place.url, BROKER_LIMIT_1: '100' } });
    broker = connectBroker(place.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const connection = toOpen({ name: 'BROKER_URL_1', url: place.url }, { queueType: 'classic' });
    intake = await createDashboard({ deadLetters: createDeadLetters(() => Promise.resolve([connection])) });
    return {
      clock: () => now,
      environment: { Console__RelayUrl: relay.url, Console__RelayToken: token, Console__IntakeUrl: intake.url, Console__IntakeToken: tokens[0] },
    };
  });
  // A message that was sent back waits in its queue for the next consumer.
  beforeEach(async () => {
    const consumers = forgeTopology.queues.map(({ name }) => broker.consume(name, { batchSize: 10, prefetch: 10 }, async (batch) => batch.map(() => 'ack')));
    for (const { name } of forgeTopology.queues) await eventually(async () => expect(await broker.depth(name)).to.equal(0));
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    await broker.dropDeadLetters({ limit: 1000 });
  });
  after(async () => {
    await broker.close();
    await intake.close();
    await relay.close();
    await Promise.all([place.drop(), relayDatabase.drop()]);
  });

  /** The workers' queue refuses a message for each reason. */
  async function die(...reasons: readonly string[]): Promise<void> {
    for (const reason of reasons) {
      const consumers = forgeTopology.queues.map(({ name }) =>
        broker.consume(name, { batchSize: 10, prefetch: 10 }, async (batch) => batch.map(() => (name === 'forge' ? { deadLetter: reason } : 'ack'))),
      );
      const before = await broker.depth('forge.dead');
      await broker.publish(message({ event: 'issues', payload: { reason } }), 10_000);
      await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(before + 1));
      for (const { name } of forgeTopology.queues) await eventually(async () => expect(await broker.depth(name)).to.equal(0));
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    }
  }
  /** The workers' queue refuses what waits there. */
  async function dieAll(reason: string): Promise<void> {
    const waiting = await broker.depth('forge');
    const consumers = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, { batchSize: 10, prefetch: 10 }, async (batch) => batch.map(() => (name === 'forge' ? { deadLetter: reason } : 'ack'))),
    );
    await eventually(async () => expect(await dead()).to.equal(waiting));
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  }
  const dead = () => broker.depth('forge.dead');
  /** As the page has a reason in its forms: browsers change the line ends of a field. */
  const exactly = (reason: string) => ({ exactReason: JSON.stringify(reason) });

  it('says on the first page that all is well, and what is not', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/')).text).to.include('All is well');
    await die('no such column');
    const { text } = await browser.get('/');
    expect(text)
      .to.include('Something needs a look')
      .and.to.include('Dead letters: 1')
      .and.to.include('href="/system/dead-letters"')
      .and.include('href="/system/dead-letters?reason=no+such+column"');
  });

  it('says on the first page how many deliveries were lost', async () => {
    const lost = {
      id: newId(),
      receivedAt: new Date(),
      status: 400,
      reason: `The delivery could not be published now. ${notKept}`,
      headers: {},
      payload: Buffer.of(),
    };
    await createRejectedStore(relay.database).add([{ ...lost, event: 'push', deliveryId: '', hookId: '', targetId: '', payloadBytes: 0 }], 10);
    expect((await (await console.loggedIn()).get('/')).text)
      .to.include('Lost deliveries of the last day: 1')
      .and.include('href="/system/rejected?status=400"');
  });

  it('says on the first page that the reasons are those of the oldest hundred', async () => {
    await die('one');
    const browser = await console.loggedIn();
    const note = 'Only the oldest 100 of each connection';
    expect((await browser.get('/')).text)
      .to.include('one')
      .and.not.include(note);
    await broker.dropDeadLetters({ limit: 1 });
    await Promise.all(Array.from({ length: 101 }, () => broker.publish(message({ event: 'push', payload: {} }), 10_000)));
    await dieAll('too many');
    await eventually(async () => expect((await browser.get('/')).text).to.include(note));
  });

  it('shows the connections with their use, the queues and the workers', async () => {
    const { status, text } = await (await console.loggedIn()).get('/system');
    expect(status).to.equal(200);
    for (const shown of ['BROKER_URL_1', '0 of 100', 'forge-database', 'maintenance', 'Dead letters']) expect(text, shown).to.include(shown);
    expect(text).not.to.include(place.url);
  });

  it('lists dead letters with their reasons as text, and filters them', async () => {
    await die('<b>no such column</b>', 'timed out');
    const browser = await console.loggedIn();
    const { text } = await browser.get('/system/dead-letters');
    expect(text).to.include('&lt;b>no such column&lt;/b>').and.to.include('timed out').and.not.include('<b>no such');
    expect((await browser.get('/system/dead-letters?reason=timed')).text).not.to.include('no such column');
    expect((await browser.get('/system/dead-letters?reason=nothing')).text).to.include('Clear filters');
  });

  it('has pages of fifty, and leads on from a row that has gone meanwhile', async () => {
    await Promise.all(Array.from({ length: 51 }, () => broker.publish(message({ event: 'push', payload: {} }), 10_000)));
    await dieAll('too many');
    const browser = await console.loggedIn();
    const first = (await browser.get('/system/dead-letters')).text;
    expect(first.match(/<tr role="row" data-row=/g)).to.have.length(50);
    const [next = ''] = /\/system\/dead-letters\?after=[^"]+/.exec(first) ?? [];
    const [last = ''] = [...first.matchAll(/name="messageId" value="([^"]+)"/g)].map(([, id]) => id).slice(-1);
    await broker.dropDeadLetters({ limit: 1, where: ({ id }) => id === last });
    const second = (await browser.get(next)).text;
    expect(second.match(/<tr role="row" data-row=/g)).to.have.length(1);
    expect(second).to.include('First page').and.not.include('By reason');
    expect((await browser.get('/system/dead-letters?after=nonsense')).status).to.equal(400);
  });

  it('shows one with its headers and payload, and leads to its delivery and from there back', async () => {
    await die('<b>no such column</b>');
    const browser = await console.loggedIn();
    const [, path = ''] = /href="(\/system\/dead-letters\/[^"]+)"/.exec((await browser.get('/system/dead-letters')).text) ?? [];
    const { status, text } = await browser.get(path);
    expect(status).to.equal(200);
    expect(text).to.include('&lt;b>no such column').and.include('href="/trace/').and.include('x-event').and.include('Drop').and.not.include('<b>no');
    const [, trace = ''] = /href="(\/trace\/[^"]+)"/.exec(text) ?? [];
    expect((await browser.get(trace)).text).to.include(`href="${path}"`);
    expect((await browser.get('/system/dead-letters/nothing')).status).to.equal(404);
  });

  it('sends one back, and all of a reason', async () => {
    await die('one', 'other', 'other');
    const browser = await console.loggedIn();
    const [, messageId = ''] = /name="messageId" value="([^"]+)"/.exec((await browser.get('/system/dead-letters?reason=one')).text) ?? [];
    expect(JSON.parse((await browser.act('/system/dead-letters/send-back', { messageId })).text).message).to.equal('1 message is sent back');
    await eventually(async () => expect(await dead()).to.equal(2));
    const again = await browser.act('/system/dead-letters/send-back', { messageId });
    expect([again.status, again.text.includes('no longer among the dead letters')]).to.deep.equal([404, true]);
    expect((await browser.post('/system/dead-letters/send-back', exactly('other'))).status).to.equal(303);
    await eventually(async () => expect(await dead()).to.equal(0));
    const rows = await console.query(`select target, outcome from actions where area = 'system' order by at, id`);
    expect(rows).to.deep.equal([
      { target: messageId, outcome: 'done' },
      { target: '/system/dead-letters/send-back', outcome: 'refused' },
      { target: 'other', outcome: 'done' },
    ]);
  });

  it('sends back and drops nothing without a selection', async () => {
    await die('one');
    const browser = await console.loggedIn();
    for (const path of ['send-back', 'drop'])
      for (const fields of [{}, { exactReason: '""' }, { exactReason: '{' }, { exactReason: '7' }, { connection: 'BROKER_URL_1' }])
        expect((await browser.post(`/system/dead-letters/${path}`, { confirm: 'drop', ...fields })).status, path).to.equal(400);
    expect(await dead()).to.equal(1);
  });

  it('takes a reason whole, with its line ends, and no other that contains it', async () => {
    await die('a column\nis missing', 'a column\nis missing here', 'a column\r\nis missing');
    const browser = await console.loggedIn();
    const [, field = ''] = /name="exactReason" value="([^"]+)"/.exec((await browser.get('/system/dead-letters?reason=missing here')).text) ?? [];
    expect(field.replaceAll('&quot;', '"')).to.equal(JSON.stringify('a column\nis missing here'));
    expect(JSON.parse((await browser.act('/system/dead-letters/send-back', exactly('a column\nis missing'))).text).message).to.equal('1 message is sent back');
    await eventually(async () => expect(await dead()).to.equal(2));
    expect((await browser.post('/system/dead-letters/drop', { ...exactly('a column\nis missing here'), confirm: 'drop' })).status).to.equal(303);
    await eventually(async () => expect(await dead()).to.equal(1));
  });

  it('drops all of a reason once the word is typed', async () => {
    await die('one', 'other');
    const browser = await console.loggedIn();
    for (const confirm of ['', 'Drop it'])
      expect((await browser.post('/system/dead-letters/drop', { ...exactly('one'), confirm })).status, confirm).to.equal(400);
    expect(await dead()).to.equal(2);
    expect((await browser.post('/system/dead-letters/drop', { ...exactly('one'), confirm: 'drop' })).status).to.equal(303);
    await eventually(async () => expect(await dead()).to.equal(1));
  });

  it('drops for no editor, and for an admin only with a login of the last ten minutes', async () => {
    await die('one');
    const fields = { ...exactly('one'), confirm: 'drop' };
    expect((await (await console.personWith({ system: 'editor' })).post('/system/dead-letters/drop', fields)).status).to.equal(403);
    const browser = await console.personWith({ system: 'admin' });
    now = new Date(now.getTime() + 10 * 60_000);
    const again = await browser.post('/system/dead-letters/drop', fields, { Referer: `${console.url}/system/dead-letters` });
    expect([again.status, again.headers.get('location')]).to.deep.equal([303, '/login?to=%2Fsystem%2Fdead-letters&again=true']);
    const script = await browser.act('/system/dead-letters/drop', fields);
    expect([script.status, JSON.parse(script.text).login]).to.deep.equal([403, '/login?to=%2F&again=true']);
    expect(await dead()).to.equal(1);
    expect((await browser.get('/login?to=%2Fsystem&again=true')).text).to.include('Log in once more');
    await browser.logIn();
    expect((await browser.post('/system/dead-letters/drop', fields)).status).to.equal(303);
    await eventually(async () => expect(await dead()).to.equal(0));
  });

  it('shows no buttons to a reader', async () => {
    await die('one');
    const browser = await console.personWith({ system: 'reader' });
    expect((await browser.get('/system/dead-letters')).text)
      .to.include('one')
      .and.not.include('send-back');
    expect((await browser.get('/system')).text).not.to.include('/run"');
    expect((await browser.get('/system')).text).not.to.include('/system/actions');
  });

  it('lists notifications, and says that an unknown one is not there', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/system/notifications')).text).to.include('No notification was made yet');
    expect((await browser.get('/system/notifications?status=failed')).text).to.include('Clear filters');
    expect((await browser.get('/system/workers')).text)
      .to.include('No run was recorded yet')
      .and.include('maintenance');
    expect((await browser.get('/system/workers?worker=cleanup')).text).to.include('Clear filters');
    expect((await browser.post('/system/notifications/0197c000-0000-7000-8000-000000000000/retry')).status).to.equal(404);
    expect((await browser.post('/system/workers/nothing/run')).status).to.equal(404);
  });

  it('gives the browser no credential, and no user and password of a broker', async () => {
    await die('one');
    const browser = await console.loggedIn();
    const { username, password } = new URL(place.url);
    expect(password).not.to.equal('');
    for (const path of ['/', '/system', '/system/brokers', '/system/dead-letters', '/system/spool', '/system/rejected', '/system/workers', '/system/actions']) {
      const { text, headers } = await browser.get(path);
      for (const secret of [token, tokens[0], place.url, `${username}:`, `:${password}@`])
        expect(`${JSON.stringify([...headers])}${text}`, path).not.to.include(secret);
    }
  });
});

describe('console with services that are away', () => {
  const console = useConsole({
    environment: {
      Console__RelayUrl: 'http://127.0.0.1:9',
      Console__RelayToken: 'a token of the tests',
      Console__IntakeUrl: 'http://127.0.0.1:9',
      Console__IntakeToken: 'a token of the tests',
    },
  });

  it('names each on the first page, and in each part of the system page', async () => {
    const browser = await console.loggedIn();
    const first = await browser.get('/');
    expect([first.status, first.text.match(/>does not answer</g)?.length]).to.deep.equal([200, 2]);
    const { status, text } = await browser.get('/system');
    expect(status).to.equal(200);
    expect(text).to.include('relay does not answer').and.to.include('intake does not answer').and.to.include('Try again');
  });

  it('answers a page of one service with the fault, and the navigation of the others', async () => {
    const { status, text } = await (await console.loggedIn()).get('/system/dead-letters');
    expect(status).to.equal(502);
    expect(text).to.include('intake does not answer').and.to.include('href="/system"');
  });
});
