// `npm run count-files [-- delivery|secret|batch]`: which files of services/ one warm request passes, by V8's precise coverage of the real
// service in this process.
import { createHmac, randomUUID } from 'node:crypto';
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from 'amqplib';
import pg from 'pg';
import { deployables } from '../../services/command/deployables.ts';
import { createLifecycle, type Lifecycle } from '../../services/platform/process/lifecycle.ts';
import { silentLog } from '../../services/platform/log.ts';
import { createMetrics } from '../../services/platform/metrics.ts';
import { createRuntimes, type Runtimes } from '../../services/platform/process/runtime.ts';
import { toPublishOptions } from '../../services/platform/broker/amqp/publisher.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { createManagementClient } from '../../services/secrets/client.ts';
import { message } from '../services/webhook-intake/deliveries.ts';
import { closeAll } from '../support/end-of-run.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { sharedRabbitmq } from '../support/rabbitmq.ts';
import { eventually } from '../support/wait.ts';

type Environment = Readonly<Record<string, string>>;
type Started = { readonly runtimes: Runtimes; readonly lifecycle: Lifecycle };

const root = new URL('../../', import.meta.url);
const credential = 'a credential of the count';
const payload = { action: 'opened', issue: { id: 1, number: 1 }, repository: { id: 1, full_name: 'me/mine' }, sender: { id: 1, login: 'me' } };

/** An environment with a migrated database of its own, and a virtual host of RabbitMQ. */
async function prepare(name: string): Promise<Environment> {
  const [deployable] = await deployables.load([name]);
  if (!deployable) throw new TypeError(`there is no ${name}`);
  const { schema, directory } = deployable.migrations;
  const { url } = await createTestDatabase({ schema, migrations: directory });
  return { DATABASE_URL: url, BROKER_URL_1: (await (await sharedRabbitmq()).createVhost()).url, PORT: '0' };
}

function host(): Started {
  const lifecycle = createLifecycle(silentLog);
  return { lifecycle, runtimes: createRuntimes({ lifecycle, metrics: createMetrics(), host: '127.0.0.1', logFor: () => silentLog }) };
}

async function serve(name: string, environment: Environment): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const { lifecycle, runtimes } = host();
  const [deployable] = await deployables.load([name]);
  await deployable?.start(runtimes.of(name, environment), await deployable.read(environment));
  return { url: `http://127.0.0.1:${runtimes.portOf(name) ?? 0}`, close: () => lifecycle.stop() };
}

const warmUps = 30;
/** Requests to compare: code that ran by chance during one, such as a timer, did not run during all. */
const looks = 5;

type Subject = { readonly once: () => Promise<unknown>; readonly close: () => Promise<void> };

const subjects: Readonly<Record<string, () => Promise<Subject>>> = {
  /** Receive → 202. */
  async delivery() {
    const settings = { Broker__AuthToken: credential, Forge__WebhookSecrets: credential, FailedPayloads__Directory: temporaryDirectory('spool') };
    const { url, close } = await serve('webhook-relay', { ...(await prepare('webhook-relay')), ...settings });
    const body = JSON.stringify(payload);
    const signature = `sha256=${createHmac('sha256', credential).update(body).digest('hex')}`;
    const once = async () => {
      const headers = { 'content-type': 'application/json', 'x-github-event': 'issues', 'x-hub-signature-256': signature, 'x-github-delivery': randomUUID() };
      const response = await fetch(`${url}/Forge`, { method: 'POST', headers, body });
      if (response.status !== 202) throw new Error(`the relay answers ${response.status}: ${await response.text()}`);
    };
    return { once, close };
  },

  /** A consumer's read of one value. */
  async secret() {
    const keys = { Management__AdminApiKey: credential, Encryption__MasterKeys: `first:${Buffer.alloc(32, 1).toString('base64')}` };
    const { url, close } = await serve('secrets', { ...(await prepare('secrets')), ...keys });
    const management = createManagementClient({ baseUrl: url, credential });
    const { slug, plainApiKey } = await management.createApplication({ name: 'Count' });
    await management.createSecret(slug, { name: 'password' });
    await management.setValues(slug, 'password', [{ environmentSlug: 'local', value: 'hidden' }]);
    const reads = `${url}/api/consumer/secrets/password?environment=local`;
    const once = async () => {
      const { status } = await fetch(reads, { headers: { 'x-api-key': plainApiKey } });
      if (status !== 200) throw new Error(`the service answers ${status}`);
    };
    return { once, close };
  },

  /** A message from the queue forge to its event in the database. */
  async batch() {
    const environment = await prepare('webhook-intake');
    const { lifecycle, runtimes } = host();
    const { worker } = await deployables.loadWorker('service');
    await worker.start(runtimes.of('service', environment), await worker.read(environment));
    const connection = await connect(environment['BROKER_URL_1'] ?? '');
    const channel = await connection.createChannel();
    const database = new pg.Client(environment['DATABASE_URL']);
    await database.connect();
    const stored = async () => Number((await database.query('select count(*) from intake.events')).rows[0].count);
    // Encoded beforehand: the files of a publisher are none of the worker's way.
    const encoded = Array.from({ length: warmUps + looks + 100 }, () => message({ event: 'issues', payload })).map((sent) => ({
      body: sent.body,
      options: toPublishOptions(sent, 1),
    }));
    const once = async () => {
      const next = encoded.pop();
      if (!next) throw new Error('no message is left');
      const before = await stored();
      channel.publish(forgeTopology.exchange, '', next.body, next.options);
      await eventually(async () => (await stored()) > before);
      await pause(100); // acknowledged, too
    };
    const close = async () => {
      await Promise.all([connection.close(), database.end()]);
      await lifecycle.stop();
    };
    return { once, close };
  },
};

/** Files of services/ in which a function ran since the last look. */
async function ranSince(session: Session): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  const files = ran.flatMap(({ url }) => (url.startsWith('file:') ? [relative(fileURLToPath(root), fileURLToPath(url))] : []));
  return new Set(files.filter((file) => file.startsWith('services/')));
}

async function count(name: string, { once, close }: Subject): Promise<void> {
  // A service listens before it is connected to its broker.
  await eventually(once);
  for (let n = 0; n < warmUps; n++) await once();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const seen: Set<string>[] = [];
  for (let n = 0; n < looks; n++) {
    await pause(50);
    await ranSince(session);
    await once();
    seen.push(await ranSince(session));
  }
  session.disconnect();
  const files = [...(seen[0] ?? [])].filter((file) => seen.every((one) => one.has(file))).sort();
  process.stdout.write(`${name}: ${files.length} files\n${files.map((file) => `  ${file}\n`).join('')}`);
  await close();
}

const wanted = process.argv.slice(2);
for (const [name, start] of Object.entries(subjects)) if (wanted.length === 0 || wanted.includes(name)) await count(name, await start());
await closeAll();
