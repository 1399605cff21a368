// Everything that can be run, by name; each is loaded when it is asked for.
import type { MigrationSource } from '../platform/postgres/migrations.ts';
import type { Deployable, Worker } from '../platform/process/deployable.ts';
import type { SubcommandLoaders } from '../platform/process/subcommand.ts';

const loaders: Readonly<Record<string, () => Promise<{ deployable: Deployable }>>> = {
  'webhook-relay': () => import('../webhook-relay/main.ts'),
  'webhook-intake': () => import('../webhook-intake/main.ts'),
  'link-digest': () => import('../link-digest/main.ts'),
  secrets: () => import('../secrets/main.ts'),
  bookmarks: () => import('../bookmarks/main.ts'),
  listings: () => import('../listings/main.ts'),
  console: () => import('../console/main.ts'),
};

async function load(name: string): Promise<Deployable> {
  const loader = loaders[name];
  if (!loader) throw new Error(`there is no service '${name}'; there are: ${Object.keys(loaders).join(', ')}`);
  return (await loader()).deployable;
}

/** First words of `signalbox <word> <subcommand>`. */
const withSubcommands: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<{ readonly subcommands: SubcommandLoaders }> }>> = {
  'webhook-intake': { summary: 'list and return dead letters', load: () => import('../webhook-intake/main.ts') },
  digest: {
    summary: 'make access tokens and password hashes of the link digest, measure its extraction and run it again, return dead letters',
    load: () => import('../link-digest/commands/main.ts'),
  },
  bookmarks: { summary: 'import and export bookmark files of browsers', load: () => import('../bookmarks/commands/main.ts') },
  secrets: { summary: 'run programs with their secrets; import, back up, restore, rewrap, audit', load: () => import('../secrets/commands/main.ts') },
  listings: { summary: 'import listings', load: () => import('../listings/commands/main.ts') },
};

/** `signalbox worker <name>`, and the deployable that has it. */
const workers: Readonly<Record<string, string>> = {
  service: 'webhook-intake',
  'database-service': 'webhook-intake',
  cleanup: 'webhook-intake',
  maintenance: 'webhook-intake',
  digest: 'link-digest',
  geocoding: 'listings',
  'dead-links': 'bookmarks',
};

/** A worker of no deployable: it has no database and serves nothing over HTTP. */
const loadMailbox = async () => (await import('../mail/main.ts')).worker;
const workerNames = [...Object.keys(workers), 'mailbox'];

async function loadWorker(name: string): Promise<{ readonly worker: Worker; readonly migrations?: MigrationSource }> {
  if (name === 'mailbox') return { worker: await loadMailbox() };
  const owner = workers[name];
  const { workers: found, migrations } = owner === undefined ? {} : await load(owner);
  const worker = found?.[name];
  if (!worker || !migrations) throw new Error(`there is no worker '${name}'; there are: ${workerNames.join(', ')}`);
  return { worker, migrations };
}

/** The deployables that may hold a forge's delivery, in the order in which it passes them. */
const loadTracers = async () => ({
  'webhook-relay': await (await import('../webhook-relay/main.ts')).loadTracer(),
  'webhook-intake': await (await import('../webhook-intake/main.ts')).loadTracer(),
});

export const deployables = {
  names: Object.keys(loaders),
  workerNames,
  load: (names: readonly string[]) => Promise.all(names.map(load)),
  loadWorker,
  loadMailbox,
  loadOperator: () => import('../operator/main.ts'),
  loadTracers,
  withSubcommands,
  loadAll: () => deployables.load(deployables.names),
};
