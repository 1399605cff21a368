// Now, the area of the system and the own account in Debian's Chromium, on a real relay and a real intake with odd data: by keys, by mouse, and without a script.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { Broker } from '../../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createDeadLetters } from '../../../../services/webhook-intake/dead-letters.ts';
import { toOpen } from '../../../../services/webhook-intake/jobs/dead-letters.ts';
import { forgeTopology } from '../../../../services/webhook-relay/contract.ts';
import { chromium, sharedChromium } from '../../../support/chromium.ts';
import { describeWith } from '../../../support/need.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { eventually } from '../../../support/wait.ts';
import { createDashboard, type Dashboard, tokens } from '../../webhook-intake/dashboard/ground.ts';
import { message } from '../../webhook-intake/deliveries.ts';
import { deliver, migrations, sign, startRelay, type TestRelay, token } from '../../webhook-relay/relay.ts';
import { createMessage, openSpool } from '../../webhook-relay/spool/fixtures.ts';
import { useConsole } from '../service.ts';
import { accessibilityFaults } from './accessibility.ts';
import { openAs } from './sign-in.ts';

const long = 'duplicate key value violates unique constraint "issues_by_forge_and_number", so that this row was given up; '.repeat(3);
const url = `https://example.org/${'a-long-path/'.repeat(20)}?q=${'x'.repeat(120)}`;

describeWith(chromium, 'the system in a browser', function () {
  this.timeout(600_000);
  let place: TestDatabase;
  let relayDatabase: TestDatabase;
  let relay: TestRelay;
  let broker: Broker;
  let intake: Dashboard;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const console = useConsole(async () => {
    place = await createTestDatabase();
    relayDatabase = await createTestDatabase({ schema: 'relay', migrations });
    const environment = {
      BROKER_URL_1: `${place.url}?schema=broker_other`,
      BROKER_URL_2: 'postgres://stranger@a-very-long-name-of-a-host-that-is-not-there.example.org:1/nothing',
      BROKER_URL_3: place.url,
      BROKER_LIMIT_1: '40',
    };
    relay = await startRelay({ databaseUrl: relayDatabase.url, environment, awaitBrokers: false, replayEveryMs: 3_600_000 });
    for (const { target, ready } of relay.connections.all) if (target.index !== 2) await ready(60_000);
    broker = connectBroker(place.url, forgeTopology, { log: silentLog, name: 'test' });
    await broker.ready(60_000);
    const connection = toOpen({ name: 'BROKER_URL_3', url: place.url }, { queueType: 'classic' });
    intake = await createDashboard({ deadLetters: createDeadLetters(() => Promise.resolve([connection])) });
    return { environment: { Console__RelayUrl: relay.url, Console__RelayToken: token, Console__IntakeUrl: intake.url, Console__IntakeToken: tokens[0] } };
  });
  before(async () => {
    for (let count = 0; count < 35; count++) await deliver(relay.url);
    for (const reason of [long, 'timed out', 'timed out', `cannot read ${url}\nat once`]) await die(reason);
    for (const event of ['issues', '<b>push</b>'])
      await deliver(relay.url, { url, text: long }, { 'X-GitHub-Event': event, 'X-GitHub-Delivery': url.slice(0, 200), 'X-Hub-Signature-256': sign('other') });
    // In the folder of those that were given up, so that the relay leaves it alone.
    const { spool } = openSpool(relay.spoolDirectory);
    await spool.write({ message: createMessage(), reason: `BROKER_URL_1: ${long}` });
    for (const file of await spool.pending()) await spool.refuse(file, { reason: long, toDo: 'look at it' });
  });
  before(async () => {
    await intake.database.rows(
      `insert into outbox_messages (id, channel, recipient, state, due_at, created_at, last_error)
      select gen_random_uuid(), 'webhook', $1, state, now(), now(), $2 from unnest(array['pending', 'sent', 'failed']) state`,
      [url, long],
    );
    await intake.database.rows(
      `insert into worker_runs (id, worker, status, started_at, finished_at, processed, failed, error)
      values (gen_random_uuid(), 'cleanup', 'failed', now(), now(), 1234567, 89, $1)`,
      [long],
    );
  });
  after(async () => {
    await broker.close();
    await intake.close();
    await relay.close();
    await Promise.all([place.drop(), relayDatabase.drop()]);
  });

  async function die(reason: string): Promise<void> {
    const before = await broker.depth('forge.dead');
    const dying = message({ event: 'issues', payload: { reason, url } });
    // Beside it there may be messages that were sent back.
    const outcomeOf = (id: string) => (id === dying.id ? { deadLetter: reason } : 'ack');
    const consumers = forgeTopology.queues.map(({ name }) =>
      broker.consume(name, { batchSize: 10, prefetch: 10 }, async (batch) => batch.map(({ id }) => (name === 'forge' ? outcomeOf(id) : 'ack'))),
    );
    await broker.publish(dying, 10_000);
    await eventually(async () => expect(await broker.depth('forge.dead')).to.equal(before + 1));
    await eventually(async () => expect(await broker.depth('forge')).to.equal(0));
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  }
  const dead = () => broker.depth('forge.dead');

  async function enter(): Promise<void> {
    complaints = [];
    context = await openAs(await console.loggedIn(), console.url, complaints);
    page = await context.newPage();
  }
  afterEach(() => context.close());

  const paths = [
    '/',
    '/system',
    '/system/brokers',
    '/system/dead-letters',
    '/system/dead-letters?reason=nothing',
    '/system/spool',
    '/system/rejected',
    '/system/workers',
    '/system/notifications',
    '/system/actions',
    '/me',
  ];

  /** A page is loaded once, and looked at in every theme and width: what changes is its style alone. */
  async function look(path: string): Promise<string[]> {
    await page.goto(path);
    const faults: string[] = [];
    for (const width of [1440, 320]) {
      await page.setViewportSize({ width, height: 900 });
      if (Number(await page.evaluate('document.documentElement.scrollWidth')) > width) faults.push(`${width} px: wider than the window`);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        faults.push(...(await accessibilityFaults(page)).map((fault) => `${width} px, ${colorScheme}: ${fault}`));
      }
    }
    return faults.map((fault) => `${path}: ${fault}`);
  }

  it('is accessible and fits the window, in both themes, on a phone and on a desk', async () => {
    await enter();
    const faults: string[] = [];
    for (const path of paths) faults.push(...(await look(path)));
    for (const list of ['/system/dead-letters', '/system/spool', '/system/rejected']) {
      await page.goto(list);
      faults.push(...(await look((await page.locator('a.row-link').first().getAttribute('href')) ?? '')));
    }
    expect([...faults, ...complaints]).to.deep.equal([]);
  });

  it('leads from the first page to a dead letter, and sends it back, by keys alone', async () => {
    await enter();
    await die('one more');
    const before = await dead();
    await page.goto('/');
    await page.keyboard.press('g');
    await page.keyboard.press('y');
    await page.waitForURL('**/system');
    await page.getByRole('link', { name: /Dead letters \d/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/system/dead-letters');
    const rows = page.locator('tbody [data-row]');
    expect(await rows.count()).to.equal(before);
    await page.keyboard.press('j');
    for (let moves = 0; moves < 10 && (await page.locator('tr[data-row]:focus').count()) === 0; moves++) await page.keyboard.press('j');
    // The badge may be some seconds old.
    const badge = page.locator('[data-count=waiting]');
    const waiting = Number(await badge.textContent());
    await page.keyboard.press('f');
    await page.getByText('1 message is sent back').waitFor();
    expect(await rows.count()).to.equal(before - 1);
    expect(await badge.textContent()).to.equal(String(waiting - 1));
    const counts = await page.locator('li[data-row] .count').allTextContents();
    expect(
      counts.reduce((sum, count) => sum + Number(count), 0),
      'those of the reasons',
    ).to.equal(before - 1);
    await eventually(async () => expect(await dead()).to.equal(before - 1));
    expect(complaints).to.deep.equal([]);
  });

  it('drops all of a reason with its line ends by mouse, once the word is typed', async () => {
    await enter();
    await die('first line\nsecond line');
    await die('first line\nsecond line, and more');
    const before = await dead();
    await page.goto('/system/dead-letters');
    const line = page.locator('li[data-row]').filter({ hasText: 'second line' }).filter({ hasNotText: 'and more' });
    await line.getByText('Drop all').first().click();
    await line.getByRole('textbox').fill('drop');
    await line.getByRole('button', { name: 'Drop all' }).click();
    await page.getByText('1 message is dropped').waitFor();
    expect(await dead()).to.equal(before - 1);
  });

  it('makes another connection active, and undoes it', async () => {
    await enter();
    await page.goto('/system/brokers');
    await page.locator('.connection').filter({ hasText: 'BROKER_URL_3' }).getByRole('button', { name: 'Make active' }).click();
    await page.getByText('BROKER_URL_3 is the active connection now').waitFor();
    await page.keyboard.press('u');
    await page.getByText('BROKER_URL_1 is the active connection now').waitFor();
    await page.getByRole('button', { name: 'Read the settings again' }).click();
    await page.getByText('The settings are the same as before').waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('finds why a delivery was refused', async () => {
    await enter();
    await page.goto('/system/rejected');
    await page.getByText('Filters').first().click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('401');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**status=401**');
    await page.keyboard.press('j');
    await page.keyboard.press('o');
    await page.getByRole('heading', { name: 'Payload' }).waitFor();
    await page.getByText('The signature matches none').first().waitFor();
  });

  it('works without a script', async () => {
    const browser = await console.loggedIn();
    context = await (await sharedChromium()).newContext({ baseURL: console.url, javaScriptEnabled: false });
    await context.addCookies([...browser.cookies].map(([name, value]) => ({ name, value, url: console.url })));
    page = await context.newPage();
    await page.goto('/system/spool');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('It is tried again now').waitFor();
  });
});
