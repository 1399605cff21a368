// Relay, intake, secrets, listings and their workers as real processes that have had work of each kind, and what their metrics ports say.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { temporaryDirectory } from '../support/guard.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { startProcess } from '../support/processes.ts';
import { eventually, freePort } from '../support/wait.ts';
import { type Answer, createForge, dashboardToken, examplePayload, loggedDeliveries, promised, startFlow } from '../system/flow.ts';
import { readScrape, type Series } from './promql.ts';

/** Pod → where it is scraped. */
export type Targets = Readonly<Record<string, string>>;
export type Scraped = {
  readonly targets: Targets;
  /** Texts of requests that must not be in a metric. */
  readonly strangers: readonly string[];
  /** Waits until all work is done: messages are acknowledged shortly after they are stored. */
  texts(): Promise<Readonly<Record<string, string>>>;
  /** A test may do it before the end of all. */
  close(): Promise<void>;
};

/** Two connections with room for three each: failover and refusals belong to what is scraped. */
const limits = { BROKER_LIMIT_1: '3', BROKER_LIMIT_2: '3' };
/** Nothing takes them: they wait. */
const events = { Events__Url: 'http://127.0.0.1:9', Events__Secret: randomUUID() };
const sent = 8;
/** A queue is missing in a scrape for which it did not answer in time. */
const holders = /^signalbox_(?:broker_queue_messages|worker_oldest_message_seconds)\{.*\} (\S+)$/gm;
/** Three queues of each connection, and two workers. */
const holderCount = 2 * 3 + 2;
const firstPassword = 'the first person of the tests';
const masterKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`;

export async function startScraped(): Promise<Scraped> {
  const database = await createTestDatabase();
  const brokerUrls = ['one', 'two'].map((schema) => `${database.url}${database.url.includes('?') ? '&' : '?'}schema=${schema}`);
  const flow = await startFlow({ databaseUrl: database.url, brokerUrls, settings: { ...limits, ...events, ...notifications() } });
  const [service, databaseService] = await Promise.all([flow.startWorker('service'), flow.startWorker('database-service')]);
  const secrets = await startOne(database.url, ['serve', 'secrets'], {
    Management__AdminApiKey: 'the administrator of the tests',
    Encryption__MasterKeys: masterKeys,
  });
  const bookmarks = await startOne(database.url, ['serve', 'bookmarks'], { Bookmarks__ApiKeys: 'the writer of the tests' });
  const deadLinks = await startOne(database.url, ['worker', 'dead-links', '--loop'], {});
  const digest = await startOne(database.url, ['serve', 'link-digest'], {
    Ingest__BrokerUrl: `${database.url}${database.url.includes('?') ? '&' : '?'}schema=one`,
    Ingest__Token: 'the mail relay of the tests',
    Jwt__Key: 'a key of the tests with 32 bytes or more',
    Digest__AdminPassword: 'the administrator of the tests',
  });
  const geocoding = await startOne(database.url, ['worker', 'geocoding', '--loop'], {});
  const listings = await startOne(database.url, ['serve', 'listings'], { Listings__AccessTokens: 'the reader of the tests' });
  const console = await startOne(database.url, ['serve', 'console'], {
    Console__AdminPassword: firstPassword,
    Console__BookmarksUrl: bookmarks.url,
    Console__BookmarksKey: 'no credential of the bookmarks',
  });
  await visit(console.url);

  // Nothing is there: what is scraped is that.
  const mailbox = await startOne(database.url, ['worker', 'mailbox', '--loop'], {
    Mailbox__Url: 'imap://ann:password@127.0.0.1:9',
    Mailbox__Folders: 'Newsletters=digest',
    Smtp__Listen: 'smtp://127.0.0.1:0',
    Smtp__Recipients: 'homes@in.example.org=listings',
    Mail__DigestUrl: digest.url,
    Ingest__Token: 'the mail relay of the tests',
    Mail__ListingsUrl: listings.url,
    Listings__AccessTokens: 'the reader of the tests',
  });

  const forge = createForge(flow.relayUrls);
  const answers: Answer[] = [];
  for (let number = 0; number < sent; number++) answers.push(await forge.deliver(examplePayload(number)));
  forge.close();
  const strangers = [randomUUID(), ...answers.map(({ deliveryId }) => deliveryId), 'stationmaster', 'railway/signals'];
  for (const url of [...flow.relayUrls, flow.intakeUrl, secrets.url, bookmarks.url, listings.url, digest.url, console.url])
    await fetch(`${url}/${strangers[0] ?? ''}`);
  await fetch(`${flow.relayUrls[0] ?? ''}/Forge`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } });
  await eventually(async () => (await loggedDeliveries(database.url)).size === promised(answers).length, { withinMs: 60_000 });

  await leaveBroker(database.url);
  for (const worker of ['cleanup', 'maintenance']) await runWorker(flow.intakeUrl, worker);
  const hasWorked = async (url: string) => /runs_total\{worker="[\w-]+",outcome="succeeded"\} [1-9]/.test(await scrape(url));
  for (const { metricsUrl } of flow.workers) await eventually(() => hasWorked(metricsUrl), { withinMs: 60_000 });

  const [relay = '', intake = ''] = flow.metricsUrls;
  const targets = {
    'relay-0': relay,
    'intake-0': intake,
    'service-0': service.metricsUrl,
    'database-service-0': databaseService.metricsUrl,
    'secrets-0': secrets.metricsUrl,
    'bookmarks-0': bookmarks.metricsUrl,
    'listings-0': listings.metricsUrl,
    'geocoding-0': geocoding.metricsUrl,
    'digest-0': digest.metricsUrl,
    'mail-0': mailbox.metricsUrl,
    'dead-links-0': deadLinks.metricsUrl,
    'console-0': console.metricsUrl,
  };
  let closed: Promise<void> | undefined;
  const close = async () => {
    await Promise.all([secrets, bookmarks, listings, geocoding, digest, mailbox, deadLinks, console].map(({ process }) => process.kill()));
    await flow.close();
    await database.drop();
  };
  return {
    targets,
    strangers,
    texts: () =>
      eventually(
        async () => {
          const texts = await Promise.all(Object.entries(targets).map(async ([pod, url]) => [pod, await scrape(url)] as const));
          const held = texts.flatMap(([, text]) => [...text.matchAll(holders)].map(([, messages]) => messages));
          return held.length === holderCount && held.every((messages) => messages === '0') && Object.fromEntries(texts);
        },
        { withinMs: 60_000 },
      ),
    close: () => (closed ??= close()),
  };
}

/** Logs in, and looks at a page that asks a service. */
async function visit(consoleUrl: string): Promise<void> {
  const body = new URLSearchParams({ name: 'admin', password: firstPassword });
  const login = await fetch(`${consoleUrl}/login`, { method: 'POST', body, headers: { 'Sec-Fetch-Site': 'same-origin' }, redirect: 'manual' });
  const [cookie = ''] = login.headers.get('set-cookie')?.split(';') ?? [];
  await fetch(`${consoleUrl}/bookmarks`, { headers: { Cookie: cookie } });
}

/** Rules that no delivery here matches. */
function notifications(): Readonly<Record<string, string>> {
  const file = join(temporaryDirectory('rules'), 'rules.yaml');
  writeFileSync(file, 'rules:\n  - name: nobody\n    when: { source: sentry }\n    push: [nobody]\n');
  return { Notifications__RulesFile: file, Notifications__PushUrl: 'http://127.0.0.1:9' };
}

/** As after the removal of a connection that was published to. */
async function leaveBroker(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`insert into relay.published_connections values ('amqps', 'left.example', 5671, '/', 'BROKER_URL_9', now(), now())`);
  await client.end();
}

/** One run, to its end. */
async function runWorker(intakeUrl: string, worker: string): Promise<void> {
  const headers = { Authorization: `token ${dashboardToken}` };
  const accepted = await fetch(`${intakeUrl}/api/v1/workers/${worker}/run`, { method: 'POST', headers });
  const location = accepted.headers.get('location') ?? '';
  await eventually(async () => (await (await fetch(`${intakeUrl}${location}`, { headers })).text()).includes('"succeeded"'), { withinMs: 60_000 });
}

async function startOne(databaseUrl: string, words: readonly string[], settings: Readonly<Record<string, string>>) {
  const [port, metricsPort] = [String(await freePort()), String(await freePort())];
  const env = { DATABASE_URL: databaseUrl, APP_ENV: 'development', PORT: port, METRICS_PORT: metricsPort, ...settings };
  const process = startProcess(words, { env });
  await process.waitForLine(/"msg":"ready"/);
  return { process, url: `http://127.0.0.1:${port}`, metricsUrl: `http://127.0.0.1:${metricsPort}` };
}

async function scrape(url: string): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`${url}/metrics answers ${response.status}: ${await response.text()}`);
  return response.text();
}

/** As Prometheus keeps them: with what the Prometheus operator says of the target. */
export const seriesOf = (texts: Readonly<Record<string, string>>): Series[] =>
  Object.entries(texts).flatMap(([pod, text]) =>
    readScrape(text).map(({ metric, labels }) => ({ metric, labels: { namespace: 'signalbox', pod, job: pod, instance: `${pod}:9090`, ...labels } })),
  );
