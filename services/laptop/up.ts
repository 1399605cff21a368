// `signalbox up`: everything on this machine, in this process, on a Postgres of its own.
import { join } from 'node:path';
import { type Environment, isGiven, readAll, readSettings, settingText, withDefaults } from '../platform/config/config.ts';
import { hasCode } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { Deployable, Worker } from '../platform/process/deployable.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { createMetrics } from '../platform/metrics.ts';
import { explainDatabase } from '../platform/postgres/errors.ts';
import { migrate, MigrationChanged } from '../platform/postgres/migrations.ts';
import { runProcess } from '../platform/process/process.ts';
import { createRuntimes, explainPort, type Runtimes } from '../platform/process/runtime.ts';
import { every, sleepUntil } from '../platform/time.ts';
import { settings as consoleSettings } from '../console/config.ts';
import { commonSettings, generators, optional, processSettings, randomCredential } from '../platform/config/settings.ts';
import {
  credentials,
  keptSettings,
  laptopSettings,
  makeFolder,
  postgresPassword,
  requireFree,
  serversIn,
  takeInstanceLock,
  writeAddresses,
} from './data-folder.ts';
import { freePort, startPostgresServer } from './postgres-server.ts';
import { ofPostgres, openLogs, overview, type Started } from './terminal.ts';

type UpCommand = {
  readonly environment: Environment;
  readonly data: string;
  readonly portBase: number;
  /** Default: METRICS_PORT. */
  readonly metricsPort?: number;
  readonly warnOfUnknownSettings: (environment: Environment, log: Log) => void;
  /** Called when the settings name a mailbox or a port for mails. */
  readonly loadMailbox: () => Promise<Worker>;
};

/** Returns when it has been stopped. @throws Error before anything is made, when the folder or a port is taken */
export async function up(command: UpCommand, deployables: readonly Deployable[]): Promise<void> {
  const { environment, data, portBase } = command;
  const begun = performance.now();
  const ofFile = await keptSettings(data);
  const kept = withDefaults(environment, ofFile);
  const settings = readSettings(kept, processSettings);
  const { adminUsername: consoleName } = readSettings(kept, { adminUsername: consoleSettings.adminUsername });
  const metricsPort = command.metricsPort ?? settings.metricsPort;
  await requireFree(data);
  for (const { name } of deployables) await requirePort(name, portOf(name, portBase), portSettings.service);
  await requirePort('metrics', metricsPort, portSettings.metrics);
  await makeFolder(data);
  const logFile = join(data, 'signalbox.log');
  let isQuiet = () => false;
  const logs = openLogs(logFile, { level: settings.logLevel, isQuiet: () => isQuiet() });
  const options = {
    log: logs.logFor('laptop'),
    // Under npm one Ctrl-C, or the end of the terminal, comes twice: from the terminal, and passed on by npm at once.
    isEcho: (signal: NodeJS.Signals, ms: number) => signal !== 'SIGTERM' && ms < 500,
    isLogRead: true,
    writeError: (text: string) => process.stderr.write(`${text}\n`),
  };
  command.warnOfUnknownSettings(kept, options.log);
  // A shell that has read the file keeps what stood there then.
  const overruled = Object.keys(ofFile).filter((name) => isGiven(environment, name) && environment[name] !== ofFile[name]);
  if (overruled.length > 0) {
    const subject = { file: join(data, 'credentials.env'), reason: overruled.join(', '), toDo: 'unset them in this shell to use the file' };
    options.log.warn(subject, 'the environment overrules lines of this file');
  }
  await runProcess(options, async (lifecycle) => {
    lifecycle.draining.addEventListener('abort', () => (process.stdout.write('stopping\n'), (isQuiet = () => true)));
    const { started, runtimes, isDatabaseAway } = await startEverything(deployables, {
      environment,
      data,
      portBase,
      metricsPort,
      loadMailbox: command.loadMailbox,
      lifecycle,
      logFor: logs.logFor,
    });
    isQuiet = () => lifecycle.draining.aborted || isDatabaseAway();
    process.stdout.write(`${overview(started, { metricsPort, logFile, consoleName })}\n`);
    const saying = { begun, stopping: lifecycle.draining, logs };
    const isReady = await sayReady(runtimes, { ...saying, withinMs: readyWithinMs, everyMs: 50 });
    runtimes.watchReadiness(options.log);
    // A folder that is missing in the mailbox may be made meanwhile.
    if (!isReady) void sayReady(runtimes, { ...saying, withinMs: Infinity, everyMs: 1000 });
    return undefined;
  });
  await logs.close();
}

async function requirePort(name: string, port: number, setting: string): Promise<void> {
  if (port !== 0) await freePort(port).catch(explainPort(name, port, setting));
}

const readyWithinMs = 10_000;

type Saying = {
  readonly begun: number;
  readonly stopping: AbortSignal;
  readonly logs: { readonly errors: number };
  readonly withinMs: number;
  readonly everyMs: number;
};

/** Says when everything is ready, or after a time what is not, and why. @returns whether everything is ready */
async function sayReady({ readiness }: Pick<Runtimes, 'readiness'>, { begun, stopping, logs, withinMs, everyMs }: Saying): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  do {
    const { status, checks } = await readiness();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    if (status === 'ready') {
      process.stdout.write(`ready in ${seconds} s${logs.errors > 0 ? ', with errors' : ''}\n`);
      return true;
    }
    const failing = Object.entries(checks).flatMap(([name, { ok, detail = 'failed' }]) => (ok ? [] : [`  ${name}: ${detail}\n`]));
    if (performance.now() > deadline) {
      process.stdout.write(`not ready after ${withinMs / 1000} s:\n${failing.join('')}`);
      return false;
    }
  } while (await sleepUntil(stopping, everyMs));
  return false;
}

type StartParts = Required<Omit<UpCommand, 'warnOfUnknownSettings'>> & {
  /** Everything that is opened is registered with it. */
  readonly lifecycle: Lifecycle;
  readonly logFor: (name: string) => Log;
};

const host = '127.0.0.1';
const portSettings = { service: '--port-base', metrics: '--metrics-port' };

// A laptop's share: the server's own defaults are for a machine that does nothing else.
const postgresSettings = { shared_buffers: '64MB', max_connections: '200', max_wal_size: '256MB', log_min_messages: 'warning' };

/** Above the base, in this order. */
const order = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings', 'console'] as const;

/** The default of `--port-base`. */
export const usualPortBase = 8080;

/** Where a service listens on a laptop: one port after another from the base; base 0 is any free port. */
export function portOf(name: string, base: number): number {
  if (base === 0) return 0;
  const place = order.findIndex((one) => one === name);
  if (place === -1) throw new TypeError(`${name} has no place among the laptop's ports`);
  return base + 1 + place;
}

/** The source `signalbox` of the intake; empty where the intake does not run, or on a port that is not known yet. */
const ownEventsUrl = (deployables: readonly Deployable[], base: number) =>
  base !== 0 && deployables.some(({ name }) => name === 'webhook-intake') ? `http://${host}:${portOf('webhook-intake', base)}/signalbox` : '';

/** The settings of the console and of clients with the address of a service. */
const addressSettings = {
  Console__RelayUrl: 'webhook-relay',
  Console__IntakeUrl: 'webhook-intake',
  Console__DigestUrl: 'link-digest',
  Console__SecretsUrl: 'secrets',
  Console__BookmarksUrl: 'bookmarks',
  Console__ListingsUrl: 'listings',
  SIGNALBOX_SECRETS_URL: 'secrets',
  SIGNALBOX_BOOKMARKS_URL: 'bookmarks',
  SIGNALBOX_LISTINGS_URL: 'listings',
  SIGNALBOX_CONSOLE_URL: 'console',
};

/** Where the services will listen; none on ports that are not known yet, of which the console has no pages. */
function addressesOf(deployables: readonly Deployable[], base: number): Readonly<Record<string, string>> {
  const known = Object.entries(addressSettings).filter(([, service]) => base !== 0 && deployables.some(({ name }) => name === service));
  return Object.fromEntries(known.map(([setting, service]) => [setting, `http://${host}:${portOf(service, base)}`]));
}

/** @returns what listens where, and the names and values of its credentials; null when the environment gave it */
export async function startEverything(deployables: readonly Deployable[], parts: StartParts) {
  const { environment, data, portBase, metricsPort, loadMailbox, lifecycle, logFor } = parts;
  lifecycle.opened('lock', await takeInstanceLock(data));
  const makers = new Map([[postgresPassword, randomCredential], ...generators(deployables.map(({ settings }) => settings))]);
  const generated = await credentials(join(data, 'credentials.env'), environment, makers);
  const given = withDefaults(environment, generated);
  const eventsUrl = ownEventsUrl(deployables, portBase);
  const addresses = { Events__Url: eventsUrl, ...addressesOf(deployables, portBase) };
  // At once: a command would send its credential to what listens at those of the start before, or at the usual ones.
  await writeAddresses(data, { ...addresses, ...serversIn(given) });
  const { databaseUrl: givenUrl } = readSettings(given, { databaseUrl: optional(commonSettings.databaseUrl) });
  const password = settingText(given, postgresPassword) ?? '';
  const own = givenUrl ? undefined : await ownPostgres(data, password, { lifecycle, log: logFor(ofPostgres) });
  const databaseUrl = givenUrl?.reveal() ?? own?.url ?? '';

  const explain = (error: unknown) => {
    if (error instanceof MigrationChanged) throw new Error(otherCheckout(own && data), { cause: error });
    if (own && hasCode(error, '28P01')) throw new Error(otherPassword(data), { cause: error });
    explainDatabase(error, own ? data : 'DATABASE_URL');
  };
  for (const { migrations, name } of deployables) await migrate(databaseUrl, migrations, logFor(name)).catch(explain);
  const shared = withDefaults(given, { ...laptopSettings(databaseUrl, data), ...addresses });
  const configured = await readAll(
    ...deployables.map((deployable) => () => configure(deployable, { ...shared, PORT: String(portOf(deployable.name, portBase)) })),
  );
  const runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), host, portSettings, logFor });
  for (const start of configured) await start(runtimes);
  if (['Mailbox__Url', 'Smtp__Listen'].some((name) => isGiven(shared, name))) await startMailbox(await loadMailbox(), shared, runtimes);
  await runtimes.serveMetrics(metricsPort);
  const urlOf = urlsIn(runtimes);
  const listening = Object.entries(addressSettings).filter(([, service]) => runtimes.portOf(service) !== undefined);
  await writeAddresses(data, {
    Events__Url: eventsUrl,
    ...Object.fromEntries(listening.map(([setting, service]) => [setting, urlOf(service)])),
    ...(metricsPort !== 0 && { SIGNALBOX_METRICS_URL: `http://${host}:${metricsPort}` }),
    ...serversIn(given),
  });
  const started: Started[] = deployables.map(({ name, settings, isDescribed = true }) => ({
    name,
    isDescribed,
    url: urlOf(name),
    credentials: Object.fromEntries(
      Object.values(settings)
        .filter(({ generate, isInternal }) => generate && !isInternal)
        .map((setting) => [setting.name, generated[setting.name] ?? null]),
    ),
  }));
  return { started, runtimes, isDatabaseAway: own?.isAway ?? (() => false) };
}

const urlsIn = (runtimes: Runtimes) => (name: string) => `http://${host}:${runtimes.portOf(name) ?? 0}`;

/** Takes mails to the services of this process. */
async function startMailbox(worker: Worker, environment: Environment, runtimes: Runtimes): Promise<void> {
  const urlOf = urlsIn(runtimes);
  const all = { Mail__DigestUrl: urlOf('link-digest'), Mail__ListingsUrl: urlOf('listings'), ...environment };
  await worker.start(runtimes.of('mailbox', all), await worker.read(all));
}

const otherCheckout = (data: string | undefined) =>
  data === undefined
    ? 'the database of DATABASE_URL was made by another checkout of Signalbox: give this one a database of its own'
    : `the data in ${data} were made by another checkout of Signalbox, whose tables differ, and are left as they are: move ${data} away, or start with another --data`;

const otherPassword = (data: string) =>
  `the Postgres of ${data} refuses ${postgresPassword}, which must be that of the first start: put it back into ${join(data, 'credentials.env')}, from a copy of the folder`;

const lookEveryMs = 500;
/** How long services take to connect again. */
const reconnectMs = 5000;

/** Starts Postgres again whenever it ends. */
async function ownPostgres(data: string, password: string, { lifecycle, log }: { lifecycle: Lifecycle; log: Log }) {
  const server = lifecycle.opened('Postgres', await startPostgresServer({ directory: join(data, 'postgres'), password, settings: postgresSettings }));
  let restartedAt = -Infinity;
  let isTold = false;
  const watching = every(lookEveryMs, lifecycle.stopping, async () => {
    if (server.isRunning()) return;
    if (!isTold) log.error({ toDo: `its log is ${join(data, 'postgres', 'postgres.log')}` }, 'Postgres ended by itself, starting it again');
    isTold = true;
    try {
      await server.restart();
      restartedAt = performance.now();
      isTold = false;
      log.warn('Postgres runs again');
    } catch (error) {
      log.error({ error }, 'Postgres does not start, retrying'); // for a moment processes of the dead one hold its memory
    }
  });
  lifecycle.onStop('watch over Postgres', () => watching);
  return { url: server.url, isAway: () => !server.isRunning() || performance.now() - restartedAt < reconnectMs };
}

/** Reads all that a deployable and its workers need. @returns what starts them */
async function configure(deployable: Deployable, environment: Environment): Promise<(runtimes: Runtimes) => Promise<void>> {
  const [config, workers] = await readAll(
    () => deployable.read(environment),
    () => readAll(...Object.entries(deployable.workers ?? {}).map(([name, worker]) => async () => ({ name, worker, config: await worker.read(environment) }))),
  );
  return async (runtimes) => {
    await deployable.start(runtimes.of(deployable.name, environment), config);
    for (const { name, worker, config: own } of workers) await worker.start(runtimes.of(`${deployable.name} ${name}`, environment), own);
  };
}
