// `signalbox queues`, `brokers`, `spool`, `replay`, `doctor` and `sql`: what a person on call asks an installation.
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Environment } from '../platform/config/config.ts';
import type { Replay } from './replay.ts';
import { dataFolderOption, withDataFolder } from './subcommands.ts';

type Parts = { readonly environment: Environment; readonly print: (text: string) => void };

const jsonOption = () => new Option('--json', 'as JSON, for programs');
const count = (text: string) => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a number above 0');
};

type Given = { readonly data: string; readonly json?: boolean };

async function installationOf({ environment }: Parts, data: string) {
  const { installationSettings, readInstallation } = await import('./installation.ts');
  return readInstallation(await withDataFolder(environment, data, installationSettings));
}

export const brokerActions = ['list', 'switch', 'reset'] as const;
export const spoolActions = ['list', 'retry', 'drop'] as const;

export function addOnCall(command: Command, parts: Parts): void {
  addQueues(command, parts);
  addBrokers(command, parts);
  addSpool(command, parts);
  addReplay(command, parts);
  addDoctor(command, parts);
  addSql(command, parts);
}

function addQueues(command: Command, parts: Parts): void {
  command
    .command('queues')
    .description('show how much waits in each queue of the brokers, since when, and how many consume it')
    .addOption(jsonOption())
    .addOption(dataFolderOption())
    .action(async ({ data, json = false }: Given) => {
      const { queues } = await import('./queues.ts');
      await queues(await installationOf(parts, data), { ...parts, json });
    });
}

function addBrokers(command: Command, parts: Parts): void {
  const { print } = parts;
  command
    .command('brokers')
    .description('show the broker connections and their usage of the month; make one active, or count its usage from 0 again')
    .addArgument(new Argument('[action]', 'switch and reset name a connection').choices(brokerActions).default('list'))
    .argument('[connection]', 'such as BROKER_URL_2')
    .addOption(jsonOption())
    .addOption(dataFolderOption())
    .action(async (action: (typeof brokerActions)[number], name: string | undefined, { data, json = false }: Given) => {
      const { listBrokers, resetUsage, switchTo } = await import('./brokers.ts');
      if ((action === 'list') !== (name === undefined))
        throw new Error(action === 'list' ? 'list takes no connection' : `${action} needs the name of a connection`);
      const installation = await installationOf(parts, data);
      if (name === undefined) return listBrokers(installation, { print, json });
      return action === 'switch' ? switchTo(installation, name, print) : resetUsage(installation, name, print);
    });
}

type SpoolGiven = Given & { readonly givenUp?: boolean; readonly limit: number };

function addSpool(command: Command, parts: Parts): void {
  const { print } = parts;
  command
    .command('spool')
    .description('list the deliveries that a relay keeps until they can be published, try them again, or drop them')
    .addArgument(new Argument('[action]', 'retry and drop take ids, or --given-up').choices(spoolActions).default('list'))
    .argument('[id...]', 'of deliveries in the list')
    .option('--given-up', 'retry or drop all that were given up')
    .addOption(new Option('--limit <count>', 'list at most so many, the oldest').argParser(count).default(20))
    .addOption(jsonOption())
    .addOption(dataFolderOption())
    .action(async (action: (typeof spoolActions)[number], ids: string[], { data, json = false, givenUp = false, limit }: SpoolGiven) => {
      const { dropSpooled, listSpooled, retrySpooled } = await import('./spool.ts');
      if (action === 'list' && (givenUp || ids.length > 0)) throw new Error('list takes neither ids nor --given-up');
      if (action !== 'list' && givenUp === ids.length > 0) throw new Error(`${action} needs ids of deliveries, or --given-up`);
      const installation = await installationOf(parts, data);
      if (action === 'list') return listSpooled(installation, { print, json, limit });
      return (action === 'retry' ? retrySpooled : dropSpooled)(installation, { ids, isGivenUp: givenUp }, print);
    });
}

/** The options that choose events: members of the request, as commander names them. */
const replayFilters = {
  '--event <kind>': 'events of this kind, such as issues',
  '--action <action>': 'events of this action, such as opened',
  '--repository <owner/name>': 'events of this repository',
  '--sender <login>': 'events that this account caused',
  '--sender-class <class>': 'events of owner, person, bot or own-bot',
  '--min-score <score>': 'events of this score or a higher one',
  '--q <text>': 'events that have this text, as in the list of events',
  '--source <source>': 'forge, or the name of a direct source',
  '--forge <forge>': 'events of this forge, such as github.com',
  '--delivery-id <id>': 'the event of this delivery',
  '--from <time>': 'received at this time or later, such as 2026-03-15T00:00:00Z',
  '--to <time>': 'received before this time',
  '--resume <run>': 'instead of these: the events that a run has left, with or without the rules as it had it',
} as const;

function addReplay(command: Command, parts: Parts): void {
  const replaying = command.command('replay').description('take stored events through the notification rules and the typed tables once more');
  for (const [flags, description] of Object.entries(replayFilters)) replaying.option(flags, description);
  replaying
    .option('--no-notify', 'leave the notification rules out')
    .option('--dry-run', 'only say which events it would be', false)
    .addOption(dataFolderOption())
    .action(async ({ data, ...body }: Replay & { readonly data: string }) => {
      const { replay } = await import('./replay.ts');
      await replay(await installationOf(parts, data), body, parts.print);
    });
}

function addDoctor(command: Command, parts: Parts): void {
  const { environment, print } = parts;
  command
    .command('doctor')
    .description('ask everything that is known here whether it works, and say what is wrong and what to do; exits with 1 when something is')
    .addOption(jsonOption())
    .addOption(dataFolderOption())
    .action(async ({ data, json = false }: Given) => {
      const [{ doctor }, { installationSettings }] = await Promise.all([import('./doctor/doctor.ts'), import('./installation.ts')]);
      const isWell = await doctor(await withDataFolder(environment, data, installationSettings), { print, json });
      if (!isWell) process.exitCode = 1;
    });
}

function addSql(command: Command, parts: Parts): void {
  const { environment, print } = parts;
  command
    .command('sql')
    .description('run a statement on the database of this service, by its own role and only to read unless told otherwise')
    .argument('<statement>')
    .option('--write', 'allow it to change rows')
    .addOption(jsonOption())
    .addOption(dataFolderOption())
    .action(async (text: string, { data, json = false, write = false }: Given & { readonly write?: boolean }) => {
      const { sql } = await import('./sql.ts');
      await sql(text, { environment: await withDataFolder(environment, data), print, json, isWrite: write });
    });
}
