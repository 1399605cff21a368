// `signalbox up`: everything on this machine, in this process, on a Postgres of its own.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { multistream } from 'pino';
import { z } from 'zod';
import { type Environment, isGiven, readAll, readSettings, settingText } from '../platform/config/config.ts';
import { createLog, type Log } from '../platform/log.ts';
import type { Deployable } from '../platform/process/deployable.ts';
import type { Lifecycle } from '../platform/process/lifecycle.ts';
import { createMetrics } from '../platform/metrics.ts';
import { explainDatabase } from '../platform/postgres/errors.ts';
import { migrate } from '../platform/postgres/migrations.ts';
import { runProcess } from '../platform/process/process.ts';
import { createRuntimes, type Runtimes } from '../platform/process/runtime.ts';
import { tableOf } from '../platform/process/table.ts';
import { commonSettings, generators, optional, processSettings, randomCredential } from '../platform/config/settings.ts';
import { credentials, laptopSettings, postgresPassword, takeInstanceLock } from './data-folder.ts';
import { startPostgresServer } from './postgres-server.ts';

type UpCommand = {
  readonly environment: Environment;
  readonly data: string;
  readonly portBase: number;
  /** That of METRICS_PORT unless given. */
  readonly metricsPort?: number;
  readonly warnOfUnknownSettings: (environment: Environment, log: Log) => void;
};

/** Returns when it has been stopped. */
export async function up(command: UpCommand, deployables: readonly Deployable[]): Promise<void> {
  const { environment, data, portBase } = command;
  const begun = performance.now();
  const settings = readSettings(environment, processSettings);
  const metricsPort = command.metricsPort ?? settings.metricsPort;
  await mkdir(data, { recursive: true });
  const logFile = join(data, 'signalbox.log');
  const logs = openLogs(logFile, settings.logLevel);
  const options = {
    log: logs.logFor('laptop'),
    // Under npm one Ctrl-C, or the end of the terminal, comes twice: from the terminal, and passed on by npm at once.
    isEcho: (signal: NodeJS.Signals, ms: number) => signal !== 'SIGTERM' && ms < 500,
    isLogRead: true,
    writeError: (text: string) => process.stderr.write(`${text}\n`),
  };
  command.warnOfUnknownSettings(environment, options.log);
  await runProcess(options, async (lifecycle) => {
    const started = await startEverything(deployables, { environment, data, portBase, metricsPort, lifecycle, logFor: logs.logFor });
    process.stdout.write(`${overview(started, { metricsPort, logFile })}\nready in ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
    return undefined;
  });
  await logs.close();
}

function overview(started: Awaited<ReturnType<typeof startEverything>>, { metricsPort, logFile }: { metricsPort: number; logFile: string }): string {
  const addresses = [...started.map(({ name, url }) => [name, url, `${url}/swagger`]), ['metrics', `http://127.0.0.1:${metricsPort}/metrics`]];
  const tokens = started.flatMap(({ credentials }) => Object.entries(credentials).map(([name, value]) => [name, value ?? '(from the environment)']));
  return [
    '',
    tableOf(['service', 'address', 'API description'], addresses),
    tableOf(['credential', 'value'], tokens),
    `log: ${logFile}    stop: Ctrl-C`,
    '',
  ].join('\n');
}

/** Everything into a file, warnings also to the terminal, in words. */
function openLogs(file: string, level: string) {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  const destination = multistream([
    { level: 'trace', stream },
    { level: 'warn', stream: { write: (line: string) => process.stderr.write(forPeople(line)) } },
  ]);
  return {
    logFor: (name: string) => createLog({ level, name, destination }),
    close: () => new Promise<void>((resolve) => stream.end(resolve)),
  };
}

const Line = z.looseObject({
  level: z.string(),
  time: z.string(),
  service: z.string(),
  msg: z.string().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
  /** Of a connection to a broker: its name, and why it failed. */
  broker: z.string().optional(),
  connection: z.string().optional(),
  reason: z.string().optional(),
});

/** A line of the log as the terminal shows it: what happened, to what, and why. */
export function forPeople(line: string): string {
  const { level, time, service, msg = '', error, broker, connection, reason } = Line.parse(JSON.parse(line));
  const which = broker ?? connection;
  const details = [...(which === undefined ? [] : [which]), ...(reason === undefined ? [] : [reason]), ...(error ? [error.message] : [])].join(': ');
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${service}: ${msg}${details === '' ? '' : ` (${details})`}\n`;
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
const order = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings'] as const;

/** Where a service listens on a laptop: one port after another from the base; base 0 is any free port. */
export function portOf(name: string, base: number): number {
  if (base === 0) return 0;
  const place = order.findIndex((one) => one === name);
  if (place === -1) throw new TypeError(`${name} has no place among the laptop's ports`);
  return base + 1 + place;
}

/** @returns what listens where, and the names and values of its credentials; null when the environment gave it */
export async function startEverything(deployables: readonly Deployable[], parts: StartParts) {
  const { environment, data, portBase, metricsPort, lifecycle, logFor } = parts;
  lifecycle.opened('lock', await takeInstanceLock(join(data, 'pid')));
  const makers = new Map([[postgresPassword, randomCredential], ...generators(deployables.map(({ settings }) => settings))]);
  const generated = await credentials(join(data, 'credentials.env'), environment, makers);
  const given = readSettings(environment, { databaseUrl: optional(commonSettings.databaseUrl) });
  const password = settingText(environment, postgresPassword) ?? generated[postgresPassword] ?? '';
  const databaseUrl = given.databaseUrl?.reveal() ?? (await ownPostgres(data, password, lifecycle));

  const addressOf = given.databaseUrl ? 'DATABASE_URL' : `${data}, whose password is ${postgresPassword},`;
  const explain = (error: unknown) => explainDatabase(error, addressOf);
  for (const { migrations, name } of deployables) await migrate(databaseUrl, migrations, logFor(name)).catch(explain);
  const missing = Object.entries({ ...laptopSettings(databaseUrl, data), ...generated }).filter(([name]) => !isGiven(environment, name));
  const shared = { ...environment, ...Object.fromEntries(missing) };
  const configured = await readAll(
    ...deployables.map((deployable) => () => configure(deployable, { ...shared, PORT: String(portOf(deployable.name, portBase)) })),
  );
  const runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), host, portSettings, logFor });
  for (const start of configured) await start(runtimes);
  await runtimes.serveMetrics(metricsPort);
  return deployables.map(({ name, settings }) => ({
    name,
    url: `http://${host}:${runtimes.portOf(name) ?? 0}`,
    credentials: Object.fromEntries(
      Object.values(settings)
        .filter(({ generate, isInternal }) => generate && !isInternal)
        .map((setting) => [setting.name, generated[setting.name] ?? null]),
    ),
  }));
}

async function ownPostgres(data: string, password: string, lifecycle: Lifecycle): Promise<string> {
  const server = await startPostgresServer({ directory: join(data, 'postgres'), password, settings: postgresSettings });
  return lifecycle.opened('Postgres', server).url;
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
