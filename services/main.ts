#!/usr/bin/env node
// The `signalbox` command: its words, and what each of them starts.
import { Command, InvalidArgumentError, Option } from 'commander';
import { deployables } from './deployables.ts';
import { commonSettings, processSettings } from './platform/common-settings.ts';
import { type Environment, readSettings } from './platform/config.ts';
import { createLog } from './platform/log.ts';
import { createMetrics } from './platform/metrics.ts';
import { migrate } from './platform/migrations.ts';
import { runProcess } from './platform/process.ts';
import { createRuntimes, type Runtimes } from './platform/runtime.ts';
import type { Verb } from './platform/verb.ts';
import { version } from './platform/version.ts';

const { names, workerNames } = deployables;
const environment: Environment = process.env;
const complain = (text: string) => void process.stderr.write(`${text}\n`);

// `signalbox migrate | head`: the work goes on when nobody reads what it says.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

/** Measured on a cluster: load balancers take up to this long to notice an unready pod. */
const productionDrainMs = 3000;

/** Runs until SIGTERM or SIGINT, with metrics and health on METRICS_PORT. */
async function run(name: string, start: (runtimes: Runtimes) => Promise<'done' | undefined>): Promise<void> {
  const { metricsPort, logLevel, appEnv } = readSettings(environment, processSettings);
  const root = createLog({ level: logLevel });
  const log = root.child({ service: name });
  let runtimes: Runtimes | undefined;
  const drainMs = appEnv === 'production' ? productionDrainMs : 0;
  await runProcess({ log, drainMs, markStopping: () => runtimes?.markStopping(), complain }, async (lifecycle) => {
    runtimes = createRuntimes({ lifecycle, metrics: createMetrics({ process: true }), logFor: (service) => root.child({ service }) });
    await runtimes.serveMetrics(metricsPort);
    const outcome = await start(runtimes);
    if (outcome !== 'done') runtimes.watchReadiness(log);
    return outcome;
  });
}

async function serve(wanted: readonly string[]): Promise<void> {
  const chosen = await deployables.load(wanted);
  await run(wanted.join('+'), async (runtimes) => {
    for (const deployable of chosen) await deployable.start(runtimes.of(deployable.name, environment));
    return undefined;
  });
}

async function work(name: string, { loop }: { loop?: true }): Promise<void> {
  const worker = await deployables.loadWorker(name);
  await run(name, async (runtimes) => {
    const runtime = runtimes.of(name, environment);
    if (!loop) {
      await worker.once(runtime);
      return 'done';
    }
    await worker.start(runtime);
    return undefined;
  });
}

async function migrateSchemas(wanted: readonly string[]): Promise<void> {
  const { logLevel } = readSettings(environment, processSettings);
  const chosen = await deployables.load(wanted.length > 0 ? wanted : names);
  const { databaseUrl } = readSettings(environment, { databaseUrl: commonSettings.databaseUrl });
  for (const { name, migrations } of chosen) {
    const reached = await migrate(databaseUrl.reveal(), migrations, createLog({ level: logLevel, name }));
    process.stdout.write(`${migrations.schema}: version ${reached}\n`);
  }
}

const port = (text: string) => {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new InvalidArgumentError('must be a port number');
};
const dataOption = new Option('--data <folder>', 'where everything is kept').default('.signalbox');
const portBaseOption = new Option('--port-base <port>', 'services listen on the ports after it').argParser(port).default(8080);

const command = new Command('signalbox').description('Catches what happens outside the cluster, ranks it and keeps it.').version(version).showHelpAfterError();

command.command('serve').description('run services, configured by the environment').argument('<service...>', names.join(', ')).action(serve);

command
  .command('worker')
  .description('run one job of a worker and exit with its result')
  .argument('<name>', workerNames.join(', '))
  .option('--loop', 'stay, and work until stopped')
  .action(work);

command
  .command('migrate')
  .description('bring the database schemas of services to this release')
  .argument('[service...]', `all unless given: ${names.join(', ')}`)
  .action(migrateSchemas);

command
  .command('up')
  .description('run everything on this machine, on a Postgres of its own')
  .addOption(dataOption)
  .addOption(portBaseOption)
  .addOption(new Option('--metrics-port <port>', 'Prometheus metrics').argParser(port).default(9090))
  .action(async (options: { data: string; portBase: number; metricsPort: number }) => {
    const { up } = await import('./laptop/main.ts');
    await up({ environment, ...options }, await deployables.loadAll());
  });

command
  .command('demo')
  .description('send a signed example delivery to what `signalbox up` runs, and see it arrive')
  .addOption(dataOption)
  .addOption(portBaseOption)
  .action(async (options: { data: string; portBase: number }) => {
    const { demo } = await import('./laptop/main.ts');
    await demo({ environment, ...options, print: (text) => void process.stdout.write(text) });
  });

/** `signalbox secrets rewrap`: loaded only when a deployable is the first word. */
function addVerb(parent: Command, name: string, { summary, operands, options, run: act }: Verb): void {
  const verb = parent.command(name).description(summary);
  if (operands !== undefined) verb.argument(operands);
  for (const { flags, summary: about, required } of options) verb.addOption(new Option(flags, about).makeOptionMandatory(required ?? false));
  verb.action(async () => {
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    const call = {
      environment,
      options: verb.opts(),
      rest: verb.args,
      print: (text: string) => void process.stdout.write(text),
      complain,
      stopping: stop.signal,
    };
    process.exitCode = await act(call).finally(() => process.off('SIGINT', onSignal).off('SIGTERM', onSignal));
  });
}

for (const [word, { name, summary }] of Object.entries(deployables.withVerbs)) {
  const parent = command.command(word).description(summary);
  if (process.argv[2] !== word) continue;
  const [deployable] = await deployables.load([name]);
  for (const [verbName, verb] of Object.entries(deployable?.verbs ?? {})) addVerb(parent, verbName, verb);
}

try {
  await command.parseAsync();
} catch (error) {
  complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
