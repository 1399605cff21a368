// The commands of `signalbox`: their options, and what each starts.
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { deployables } from './deployables.ts';
import { processSettings } from '../platform/config/settings.ts';
import { type Environment, isGiven, readSettings } from '../platform/config/config.ts';
import { version } from '../platform/version.ts';
import { addOnCall } from './on-call.ts';
import { dataFolderOption, dataOption, withDataFolder } from './subcommands.ts';

export type CommandParts = {
  readonly environment: Environment;
  readonly print: (text: string) => void;
  readonly writeError: (text: string) => void;
};

const { names, workerNames } = deployables;
const chosenOrAll = (wanted: readonly string[]) => deployables.load(wanted.length > 0 ? wanted : names);

/** Runs a process until it has stopped, with tracing if an OTLP endpoint is set. Tracing starts first: it instruments modules as they are imported. */
async function traced(environment: Environment, service: string, run: () => Promise<void>): Promise<void> {
  const { otlpEndpoint } = processSettings;
  if (!isGiven(environment, otlpEndpoint.name)) return run();
  const { startTracing } = await import('../platform/process/tracing.ts');
  const tracing = startTracing({ endpoint: readSettings(environment, { otlpEndpoint }).otlpEndpoint ?? '', service });
  await run();
  await tracing.stop();
}

const port = (text: string) => {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 0 && number < 65_536) return number;
  throw new InvalidArgumentError('must be a port number');
};
const portBase = (text: string) => {
  const base = port(text);
  if (base + names.length < 65_536) return base;
  throw new InvalidArgumentError(`must be a port number with ${names.length} more above it`);
};
const seconds = (text: string) => {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a number of seconds');
};
const addLabel = (text: string, before: Readonly<Record<string, string>>) => {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new InvalidArgumentError('must be KEY=VALUE');
  return { ...before, [key]: value };
};
const servicesArgument = new Argument('[service...]', `default: all of them, ${names.join(', ')}`);
const portBaseOption = new Option('--port-base <port>', 'the relay listens on the port after it, the other services on those after that')
  .argParser(portBase)
  .default(8080);
const loopOption = new Option('--loop', 'keep working until stopped');

/** Without the subcommands of deployables, which are added when they are called. */
export function createCommand(parts: CommandParts): Command {
  const command = new Command('signalbox').description('Receives webhooks, newsletters, listings and bookmarks, and keeps secrets.').version(version);
  command.showHelpAfterError();
  addProcesses(command, parts);
  addInstallation(command, parts);
  addLaptop(command, parts);
  addTrace(command, parts);
  addOnCall(command, parts);
  return command;
}

function addProcesses(command: Command, { environment, writeError }: CommandParts): void {
  const call = { environment, writeError };
  command
    .command('serve')
    .description('run services, configured by the environment')
    .argument('<service...>', names.join(', '))
    .addOption(new Option('--worker <name...>', `work in the same process (${workerNames.join(', ')})`).default([], 'none'))
    .action((wanted: string[], { worker }: { worker: string[] }) =>
      traced(environment, wanted.join('+'), async () => (await import('./serve.ts')).serve(call, wanted, worker)),
    );

  command
    .command('worker')
    .description('run one job of a worker and exit with its result')
    .argument('<name>', workerNames.join(', '))
    .addOption(loopOption)
    .addOption(
      new Option('--wait <seconds>', 'wait for a database that is away or not migrated yet, before one job (default: 0)').argParser(seconds).conflicts('loop'),
    )
    .addOption(new Option('--data <folder>', 'the folder of a running `signalbox up`, for its settings'))
    .action((name: string, options: { loop?: true; wait?: number; data?: string }) =>
      traced(environment, `worker-${name}`, async () => {
        const settings = await withLaptopSettings(environment, options.data);
        await (await import('./serve.ts')).work({ ...call, environment: settings }, name, options);
      }),
    );

  command
    .command('operator')
    .description('reconcile the BrokerConnections, SecretApplications and SyncedSecrets of a Kubernetes cluster')
    .action(() => traced(environment, 'operator', async () => (await import('./serve.ts')).operate(call)));
}

/** The settings of a running `signalbox up`, but a free metrics port, since that of `up` is taken. */
const withLaptopSettings = async (environment: Environment, data: string | undefined): Promise<Environment> =>
  data === undefined ? environment : { METRICS_PORT: '0', ...(await withDataFolder(environment, data)) };

type MigrateOptions = {
  readonly withBroker?: true;
  readonly withBackup?: true;
  readonly closeOtherDatabases?: true;
  readonly printRoles?: true;
  readonly wait?: number;
};

async function migrate({ environment, print }: CommandParts, wanted: readonly string[], options: MigrateOptions): Promise<void> {
  const { withBroker = false, withBackup = false, closeOtherDatabases = false, printRoles, wait } = options;
  const { logLevel } = readSettings(environment, processSettings);
  const [install, { createLog }] = await Promise.all([import('../install/migrate.ts'), import('../platform/log.ts')]);
  const call = {
    environment,
    withBroker,
    withBackup,
    closeOtherDatabases,
    waitMs: wait === undefined ? undefined : wait * 1000,
    log: createLog({ level: logLevel, name: 'migrate' }),
    print,
  };
  const chosen = await chosenOrAll(wanted);
  if (printRoles) install.printRoles(call, chosen);
  else await install.migrateSchemas(call, chosen);
}

type CredentialsOptions = {
  readonly secret: string;
  readonly namespace?: string;
  readonly label: Readonly<Record<string, string>>;
  readonly output?: 'yaml';
};

async function makeCredentials({ print, writeError }: CommandParts, wanted: readonly string[], options: CredentialsOptions): Promise<void> {
  const { label: labels, output, ...target } = options;
  const { credentials, credentialsManifest } = await import('../install/credentials.ts');
  const chosen = await chosenOrAll(wanted);
  if (output === undefined) await credentials({ ...target, labels, print, writeError }, chosen);
  else print(credentialsManifest({ ...target, labels }, chosen));
}

function addInstallation(command: Command, parts: CommandParts): void {
  command
    .command('migrate')
    .description('bring the database schemas of services to this release, as one user or as a role for each schema')
    .addArgument(servicesArgument)
    .option('--with-broker', 'also a role and a schema for the embedded broker')
    .option('--with-backup', 'also a role that reads everything, for pg_dump; Postgres 14 or newer')
    .option('--close-other-databases', 'forbid connections to the databases postgres and template1; for a server that only Signalbox uses')
    .addOption(
      new Option('--wait <seconds>', 'wait for a server or a role that does not exist yet (default: 300 with POSTGRES_URL, else 0)').argParser(seconds),
    )
    .option('--print-roles', 'only print the SQL that makes the roles, for psql; needs no server')
    .action((wanted: string[], options: MigrateOptions) => migrate(parts, wanted, options));

  command
    .command('credentials')
    .description('create the credentials of an installation in a Secret of the cluster; what is there is never changed')
    .addArgument(servicesArgument)
    .requiredOption('--secret <name>', 'the Secret (required)')
    .option('--namespace <namespace>', "its namespace (default: the pod's, or that of the kubeconfig's context)")
    .addOption(new Option('--label <key=value>', 'a label of the Secret when it is created; can be repeated').argParser(addLabel).default({}, 'none'))
    .addOption(new Option('--output <format>', 'only print the Secret, with new values, for a repository that seals it; needs no cluster').choices(['yaml']))
    .action((wanted: string[], options: CredentialsOptions) => makeCredentials(parts, wanted, options));
}

function addLaptop(command: Command, { environment, print }: CommandParts): void {
  command
    .command('up')
    .description('run everything on this machine, on a Postgres of its own')
    .addOption(dataOption())
    .addOption(portBaseOption)
    .addOption(new Option('--metrics-port <port>', 'Prometheus metrics (default: METRICS_PORT, or 9090)').argParser(port))
    .action((options: { data: string; portBase: number; metricsPort?: number }) =>
      traced(environment, 'signalbox', async () => {
        const [{ up }, { warnOfUnknownSettings }] = await Promise.all([import('../laptop/up.ts'), import('./unknown-settings.ts')]);
        await up({ environment, ...options, warnOfUnknownSettings, loadMailbox: deployables.loadMailbox }, await deployables.loadAll());
      }),
    );

  command
    .command('demo')
    .description('fill the pages of what `signalbox up` runs with examples: signed deliveries, newsletters, bookmarks, listings, secrets')
    .addOption(dataOption())
    .addOption(new Option('--port-base <port>', 'that of `signalbox up`; default: where its services say that they listen').argParser(portBase))
    .action(async (options: { data: string; portBase?: number }) => {
      const { demo } = await import('../laptop/demo.ts');
      await demo({ environment, ...options, print });
    });
}

function addTrace(command: Command, { environment, print }: CommandParts): void {
  command
    .command('trace')
    .description('say where a delivery is, and why: refused, spooled, dead-lettered or stored; exits with 1 when no place has it')
    .argument('<delivery-id>', "the forge's, or the id that the relay answered with")
    .addOption(dataFolderOption())
    .action(async (id: string, { data }: { data: string }) => {
      if (id.trim() === '') throw new Error('the delivery id is empty');
      const { trace } = await import('./trace.ts');
      const isFound = await trace(id, { environment: await withDataFolder(environment, data), print }, await deployables.loadTracers());
      if (!isFound) process.exitCode = 1;
    });
}
