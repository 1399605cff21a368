// `npm run soak [-- --minutes 10 --deliveries 60000 --kills 40 --seed 1 --broker rabbitmq|postgres]`: mixed load over all services while processes and
// servers are killed, stopped, suspended and started again, and clocks of processes are stepped. Ends with the accounts: exit code 1 and what is missing,
// by id, where one does not balance. It runs on its own servers, on loopback, and stops by itself.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { connectBroker } from '../../services/platform/broker/connect.ts';
import { silentLog } from '../../services/platform/log.ts';
import { every, sleepUntil } from '../../services/platform/time.ts';
import { ingestTopology } from '../../services/link-digest/ingest/queue.ts';
import { forgeTopology } from '../../services/webhook-relay/contract.ts';
import { closeAll } from '../support/end-of-run.ts';
import { createFaults, type Faults } from './faults.ts';
import { type Installation, startInstallation } from './installation.ts';
import { type Load, runLoad } from './load.ts';
import { createBookmarks } from './loads/bookmarks.ts';
import { createConsole } from './loads/console.ts';
import { createDeliveries } from './loads/deliveries.ts';
import { createEvents, type Receiver, startReceiver } from './loads/events.ts';
import { createListings } from './loads/listings.ts';
import { createAlertMails, createNewsletters } from './loads/mails.ts';
import { createSecrets } from './loads/secrets.ts';
import { createRandom } from './random.ts';

/** After the load: retries, leases and back-off may take so long. */
const settleMs = 15 * 60_000;
/** Once more after the accounts have balanced: what came twice may come late. */
const againMs = 20_000;
const mostFaultsShown = 50;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    deliveries: { type: 'string', default: '60000' },
    kills: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(1 + (Date.now() % 1_000_000)) },
    broker: { type: 'string', default: 'rabbitmq' },
  },
});
const [minutes, deliveries, kills, seed] = [values.minutes, values.deliveries, values.kills, values.seed].map(numberOf) as [number, number, number, number]; // one for each
const broker = brokerOf(values.broker);

function numberOf(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) <= 0) throw new Error(`'${text}' must be a number above 0`);
  return Number(text);
}

function brokerOf(text: string): 'rabbitmq' | 'postgres' {
  if (text !== 'rabbitmq' && text !== 'postgres') throw new Error(`'${text}' must be rabbitmq or postgres`);
  return text;
}

const begun = Date.now();
const say = (text: string) => process.stdout.write(`${String(Math.floor((Date.now() - begun) / 60_000)).padStart(4)} min  ${text}\n`);

async function createLoads({ settings, urlsOf }: Installation, receiver: Receiver, faults: Faults): Promise<readonly Load[]> {
  const randomOf = (name: string) => createRandom(seed, name);
  const url = (service: string) => urlsOf(service)[0] ?? '';
  const credential = (name: string) => (settings[name] ?? '').split(',')[0] ?? '';
  const perSecond = deliveries / (minutes * 60);
  return [
    createDeliveries({
      relayUrls: urlsOf('webhook-relay'),
      secret: credential('Forge__WebhookSecrets'),
      perSecond,
      most: deliveries,
      random: randomOf('deliveries'),
    }),
    createEvents({ intakeUrl: url('webhook-intake'), receiver, perSecond: 5 }),
    createNewsletters({ url: url('link-digest'), credential: credential('Ingest__Token'), perSecond: 4 }),
    createAlertMails({ url: url('listings'), credential: credential('Listings__AccessTokens'), perSecond: 1 }),
    createListings({ url: url('listings'), token: credential('Listings__AccessTokens'), perSecond: 4, random: randomOf('listings') }),
    createBookmarks({ url: url('bookmarks'), apiKey: credential('Bookmarks__ApiKeys'), perSecond: 10, random: randomOf('bookmarks') }),
    await createSecrets({
      urls: urlsOf('secrets'),
      credential: credential('Management__AdminApiKey'),
      perSecond: 20,
      random: randomOf('secrets'),
      wasKilledAfter: (at) => faults.wasKilledAfter('secrets', at),
    }),
    await createConsole({ url: url('console'), perSecond: 1, random: randomOf('console') }),
  ];
}

/** Sends dead letters back, as an operator does. @returns how many so far */
function returnDeadLetters(brokerUrl: string, stopping: AbortSignal): { readonly returned: () => number; readonly ended: Promise<void> } {
  let returned = 0;
  const brokers = [forgeTopology, ingestTopology(3)].map((topology) => connectBroker(brokerUrl, topology, { log: silentLog, name: 'soak' }));
  const ended = every(5000, stopping, async () => {
    for (const one of brokers)
      returned += await one.returnDeadLetters({ limit: 1000 }).then(
        (done) => done.returned,
        () => 0,
      ); // the broker is away
  }).then(async () => void (await Promise.all(brokers.map((one) => one.close()))));
  return { returned: () => returned, ended };
}

/** @returns every fault, with the name of its account */
async function balance({ postgres }: Installation, loads: readonly Load[]): Promise<readonly string[]> {
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  try {
    const faults: string[] = [];
    for (const load of loads) faults.push(...(await load.balance(database)).map((fault) => `${load.name}: ${fault}`));
    return faults;
  } finally {
    await database.end();
  }
}

/** Waits until all accounts balance. @returns what is wrong then, or when the time is over */
async function settle(installation: Installation, loads: readonly Load[]): Promise<readonly string[]> {
  const until = Date.now() + settleMs;
  for (;;) {
    const faults = await balance(installation, loads);
    if (faults.length === 0 || Date.now() > until) return faults;
    say(`waiting for ${faults.length}, such as ${faults[0]}`);
    await new Promise((resolve) => setTimeout(resolve, 10_000));
  }
}

async function run(): Promise<readonly string[]> {
  say(`seed ${seed}, ${minutes} minutes, ${deliveries} deliveries, ${kills} kills, ${broker}`);
  const receiver = await startReceiver();
  const ended: string[] = [];
  let isWholeSince: Faults['isWholeSince'] = () => false;
  const onEnd = (name: string, code: string, lastLines: readonly string[]) => {
    // A process may end when its servers are away as it starts.
    if (isWholeSince(Date.now() - 10_000)) ended.push(`${name} ended by itself with ${code}: ${lastLines.join(' | ')}`);
  };
  const installation = await startInstallation({ broker, webhookUrl: receiver.url, onEnd });
  if (!installation.smallDisk) say('this user may not mount a small disk: no disk is full in this run');
  if (installation.slots.every(({ clock }) => !clock)) say("Debian's faketime is not installed: no clock is stepped in this run");
  const over = new AbortController();
  const stopped = new AbortController();
  try {
    const everyMs = (minutes * 60_000 * 0.64) / kills; // the share of kills among all faults
    const faults = createFaults({ installation, random: createRandom(seed, 'faults'), everyMs, mostKills: kills });
    isWholeSince = faults.isWholeSince;
    const loads = await createLoads(installation, receiver, faults);
    const dead = returnDeadLetters(installation.brokerUrl, stopped.signal);
    const line = () =>
      say(`${loads.map(({ name, counts }) => `${name} ${counts()}`).join('; ')}; dead letters returned ${dead.returned()}; ${faults.counts()}`);
    void every(60_000, over.signal, () => Promise.resolve(void line()));
    // Not waited for after a failure.
    setTimeout(() => over.abort(), minutes * 60_000).unref();
    await Promise.all([...loads.map((load) => runLoad(load, over.signal)), faults.run(over.signal)]);
    line();
    const first = await settle(installation, loads);
    await sleepUntil(stopped.signal, againMs);
    const left = first.length > 0 ? first : await balance(installation, loads);
    stopped.abort();
    await dead.ended;
    line();
    return [...left, ...faults.broken, ...ended];
  } finally {
    over.abort();
    stopped.abort();
    await installation.close();
    receiver.close();
  }
}

try {
  const faults = await run();
  for (const fault of faults.slice(0, mostFaultsShown)) process.stdout.write(`${fault}\n`);
  if (faults.length > mostFaultsShown) process.stdout.write(`and ${faults.length - mostFaultsShown} more\n`);
  say(faults.length === 0 ? 'every account balances' : `${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
} finally {
  await closeAll();
}
