// Brokers, spool and refused deliveries in the area of the system, on a real relay.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { deliver, migrations, startRelay, type TestRelay, token } from '../../webhook-relay/relay.ts';
import { createMessage, openSpool } from '../../webhook-relay/spool/fixtures.ts';
import { type Proxy, startProxy } from '../proxy.ts';
import { startIntake, type TestIntake } from './intake.ts';
import { useConsole } from '../service.ts';

const settingsOf = (relay: Pick<TestRelay, 'url'>) => ({ Console__RelayUrl: relay.url, Console__RelayToken: token });

describe('console brokers', function () {
  this.timeout(120_000);
  let database: TestDatabase;
  let relay: TestRelay;
  let proxy: Proxy;
  const file = join(temporaryDirectory('environment'), 'broker.env');
  const connections = (limit: number) =>
    writeFileSync(file, [`BROKER_URL_1=${database.url}`, `BROKER_URL_2=${database.url}?schema=broker_two`, `BROKER_LIMIT_1=${limit}`].join('\n'));
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    connections(50);
    relay = await startRelay({ databaseUrl: database.url, environment: { Broker__EnvironmentFile: file, Broker__MonthlyMessageLimit: '1000' } });
    proxy = await startProxy(() => relay.url);
    return { environment: settingsOf({ url: proxy.url }) };
  });
  beforeEach(() => proxy.meet(() => undefined));
  after(async () => {
    proxy.close();
    await relay.close();
    await database.drop();
  });

  it('shows each connection with its quota, when that will be full, and messages per day', async () => {
    const browser = await console.loggedIn();
    expect((await browser.get('/system/brokers')).text).to.include('Nothing was published in the last week');
    for (let count = 0; count < 3; count++) expect((await deliver(relay.url)).status).to.equal(202);
    const { status, text } = await browser.get('/system/brokers');
    expect(status).to.equal(200);
    for (const shown of ['BROKER_URL_1', 'BROKER_URL_2', '3 of 50, 6%', 'Messages per day', '3 messages in the last 31 days', 'BROKER_URL_1 this month'])
      expect(text, shown).to.include(shown);
    expect(text).to.match(/Full on|Enough for this month/);
    expect(text).not.to.include(new URL(database.url).username === '' ? database.url : `${new URL(database.url).username}:`);
    expect((await browser.get('/system')).text).to.include('3 of 50, 6%');
  });

  it('makes another connection active, which can be undone, and says who asked', async () => {
    const browser = await console.loggedIn();
    const { message, undo } = JSON.parse((await browser.act('/system/brokers/2/switch')).text);
    expect([message, undo]).to.deep.equal(['BROKER_URL_2 is the active connection now', { path: '/system/brokers/1/switch', fields: {} }]);
    expect((await browser.get('/system/brokers')).text)
      .to.include('made active')
      .and.include('action="/system/brokers/1/switch"'.replace('action', 'formaction'));
    expect((await browser.act(undo.path)).status).to.equal(200);
    expect((await browser.act('/system/brokers/7/switch')).status).to.equal(404);
    const rows = await console.query(`select target, outcome from actions where area = 'system' order by at, id`);
    expect(rows.map(({ target, outcome }) => [target, outcome])).to.deep.equal([
      ['BROKER_URL_2', 'done'],
      ['BROKER_URL_1', 'done'],
      ['/system/brokers/7/switch', 'refused'],
    ]);
  });

  it('says that a switch is done, whatever the relay answers after it', async () => {
    const browser = await console.loggedIn();
    let isDone = false;
    proxy.meet(({ method, path }) => {
      isDone ||= method === 'POST';
      return isDone && path === '/Broker/connections' ? 'fail' : undefined;
    });
    const { status, text } = await browser.act('/system/brokers/2/switch');
    expect([status, JSON.parse(text).undo]).to.deep.equal([200, { path: '/system/brokers/1/switch', fields: {} }]);
    proxy.meet(() => undefined);
    expect((await browser.act('/system/brokers/1/switch')).status).to.equal(200);
  });

  it('reads the settings again, and says what has changed or is wrong with them', async () => {
    const browser = await console.loggedIn();
    const reload = async () => JSON.parse((await browser.act('/system/brokers/reload')).text);
    expect((await reload()).message).to.equal('The settings are the same as before');
    connections(60);
    expect(await reload()).to.have.property('message');
    expect((await browser.get('/system/brokers')).text).to.include('of 60');
    writeFileSync(file, 'BROKER_URL_1=nonsense');
    expect(await reload()).to.deep.include({ status: 409 });
    connections(50);
    await reload();
    expect((await browser.get('/system/brokers')).text).to.include('of 50');
  });

  it('lets only an admin switch and reload, and only with a login of the last ten minutes', async () => {
    const editor = await console.personWith({ system: 'editor' });
    for (const path of ['/system/brokers/2/switch', '/system/brokers/reload']) expect((await editor.post(path)).status, path).to.equal(403);
    expect((await editor.get('/system/brokers')).text)
      .not.to.include('Make active')
      .and.not.include('Read the settings again');
  });
});

describe('console spool', function () {
  this.timeout(120_000);
  let database: TestDatabase;
  let relay: TestRelay;
  let intake: TestIntake;
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    const environment = { BROKER_URL_1: 'postgres://stranger@127.0.0.1:1/nothing', Relay__DeliveryBudgetMs: '1000' };
    relay = await startRelay({ databaseUrl: database.url, environment, awaitBrokers: false });
    intake = await startIntake();
    return { environment: { ...intake.settings, ...settingsOf(relay) } };
  });
  after(async () => {
    await relay.close();
    await intake.close();
    await database.drop();
  });

  async function spooled(reason: string): Promise<string> {
    const message = createMessage();
    expect(await openSpool(relay.spoolDirectory).spool.write({ message, reason })).to.equal(true);
    return message.id;
  }

  it('says what comes here while nothing waits', async () => {
    expect((await (await console.loggedIn()).get('/system/spool')).text).to.include('Nothing waits in the spool');
  });

  it('is on the way of its delivery, and leads there', async () => {
    const id = await spooled('<i>not connected</i>');
    const browser = await console.loggedIn();
    const [trace = ''] = /\/trace\/[^"]+/.exec((await browser.get(`/system/spool/${id}`)).text) ?? [];
    expect((await browser.get(trace)).text).to.match(new RegExp(`In the spool.*waits.*&lt;i>not connected.*href="/system/spool/${id}"`, 's'));
    const reader = await console.personWith({ events: 'reader' });
    expect((await reader.get(trace)).text).not.to.include('/system/spool/');
    expect((await browser.get('/trace/another')).text).not.to.include('/system/spool/');
    expect((await (await console.loggedIn()).post(`/system/spool/${id}/drop`, { confirm: 'drop' })).status).to.equal(303);
  });

  it('lists what waits with its reason as text, tries it again and drops it once the word is typed', async () => {
    const id = await spooled('<i>not connected</i>');
    const browser = await console.loggedIn();
    const { text } = await browser.get('/system/spool');
    expect(text).to.include('&lt;i>not connected').and.include(`href="/system/spool/${id}"`).and.not.include('<i>not');
    expect((await browser.get(`/system/spool/${id}`)).text).to.include('Drop this delivery');
    expect(JSON.parse((await browser.act(`/system/spool/${id}/retry`)).text).message).to.include('It is tried again now');
    expect((await browser.post(`/system/spool/${id}/drop`, { confirm: 'no' })).status).to.equal(400);
    expect((await browser.post(`/system/spool/${id}/drop`, { confirm: 'drop' })).status).to.equal(303);
    expect((await browser.get(`/system/spool/${id}`)).status).to.equal(404);
    for (const what of ['retry', 'drop']) expect((await browser.post(`/system/spool/${id}/${what}`, { confirm: 'drop' })).status, what).to.equal(404);
  });

  it('has pages', async () => {
    for (let count = 0; count < 51; count++) await spooled('not connected');
    const browser = await console.loggedIn();
    const [, next = ''] = /href="(\/system\/spool\?after=[^"]+)"/.exec((await browser.get('/system/spool')).text) ?? [];
    const { text } = await browser.get(next.replaceAll('&amp;', '&'));
    expect(text.match(/data-row=/g)).to.have.length(1);
    expect(text).to.include('First page');
  });

  it('lets a reader look, an editor try again, and an admin drop', async () => {
    const id = await spooled('not connected');
    const reader = await console.personWith({ system: 'reader' });
    expect((await reader.get(`/system/spool/${id}`)).text)
      .not.to.include('<form method="post" action="/system/spool')
      .and.not.include('/retry"');
    expect((await reader.post(`/system/spool/${id}/retry`)).status).to.equal(403);
    const editor = await console.personWith({ system: 'editor' });
    expect((await editor.get(`/system/spool/${id}`)).text)
      .to.include('/retry"')
      .and.not.include('/drop"');
    expect((await editor.post(`/system/spool/${id}/drop`, { confirm: 'drop' })).status).to.equal(403);
  });
});

describe('console refused deliveries', function () {
  this.timeout(120_000);
  let database: TestDatabase;
  let relay: TestRelay;
  let intake: TestIntake;
  const console = useConsole(async () => {
    database = await createTestDatabase({ schema: 'relay', migrations });
    relay = await startRelay({ databaseUrl: database.url, environment: { BROKER_URL_1: database.url } });
    intake = await startIntake();
    return { environment: { ...intake.settings, ...settingsOf(relay) } };
  });
  after(async () => {
    await relay.close();
    await intake.close();
    await database.drop();
  });
  const markup = '<img src=x onerror=alert(1)>';

  it('says that none was refused', async () => {
    expect((await (await console.loggedIn()).get('/system/rejected')).text).to.include('No delivery was refused');
  });

  it('lists them with their reasons, filters them, and shows headers and payload as text', async () => {
    const refuse = (event: string, deliveryId: string, body: object) =>
      deliver(relay.url, body, { 'X-GitHub-Event': event, 'X-GitHub-Delivery': deliveryId, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` });
    expect((await refuse('push', 'delivery-1', { zen: markup })).status).to.equal(401);
    expect((await refuse(markup, 'delivery-2', {})).status).to.equal(401);
    const browser = await console.loggedIn();
    const page = async (path: string) => (await browser.get(path)).text;
    await eventually(async () => expect((await page('/system/rejected')).match(/data-row=/g)).to.have.length(2));
    expect(await page('/system/rejected')).to.match(/data-label="Reason">[^<]*signature[^<]*<\/td>/i);
    expect(await page('/system/rejected'))
      .to.include('&lt;img src=x')
      .and.not.include(markup);
    for (const [query, rows] of [
      ['event=push', 1],
      ['status=401', 2],
      ['deliveryId=delivery-2', 1],
      ['from=2020-01-01&to=2020-01-02', 0],
      ['status=503', 0],
    ] as const)
      expect((await page(`/system/rejected?${query}`)).match(/data-row=/g)?.length ?? 0, query).to.equal(rows);
    expect(await page('/system/rejected?status=503')).to.include('Clear filters');
    expect((await browser.get('/system/rejected?status=9')).status).to.equal(400);
    const [, link = ''] = /href="(\/system\/rejected\/[\w-]+)"/.exec(await page('/system/rejected?event=push')) ?? [];
    const text = await page(link);
    expect(text).to.include('The signature matches none').and.include('zen').and.include('[hidden]').and.include('delivery-1').and.not.include(markup);
    expect((await browser.get('/system/rejected/nothing')).status).to.equal(404);
  });

  it('are on the way of their delivery, which a search for its id leads to', async () => {
    const id = randomUUID();
    expect((await deliver(relay.url, {}, { 'X-GitHub-Delivery': id, 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` })).status).to.equal(401);
    const browser = await console.loggedIn();
    expect((await browser.get(`/search?q=${id}`)).text).to.include(`href="/trace/${id}"`);
    expect((await browser.get('/search?q=words')).text).not.to.include('/trace/');
    await eventually(async () => expect((await browser.get(`/trace/${id}`)).text).to.match(/401: [^<]*signature.*href="\/system\/rejected\//s));
    const reader = await console.personWith({ events: 'reader' });
    expect((await reader.get(`/trace/${id}`)).text).not.to.include('/system/rejected');
  });
});
