// `signalbox secrets import-env`: imports a dotenv file into the configuration or the secrets of an application.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Environment, readSettings } from '../../platform/config/config.ts';
import { type DotenvEntry, DotenvError, parseDotenv } from '../../platform/config/dotenv.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { tableOf } from '../../platform/process/table.ts';
import { describeError } from '../../platform/errors.ts';
import { type ConsumerClient, createConsumerClient, createManagementClient, type ManagementClient, Refusal } from '../client.ts';
import { NewConfiguration, NewSecret } from '../contract.ts';
import { isActive, type SecretVersion, ValueItem } from '../management/contract.ts';
import { explainFile } from './files.ts';
import { managementSettings } from './settings.ts';

const Options = z.object({
  application: z.string(),
  environment: z.string(),
  as: z.enum(['configuration', 'secrets'], { error: 'must be configuration or secrets' }),
  colons: z.boolean().default(false),
  overwrite: z.boolean().default(false),
  dryRun: z.boolean().default(false),
});
type Wanted = z.output<typeof Options>;

export const importEnv: Subcommand = {
  summary: 'import a dotenv file into an application, without showing its values',
  examples: [
    'import-env .env --application shop --environment production --as secrets',
    'import-env appsettings.env --application shop --environment production --as configuration --colons --dry-run',
  ],
  operands: '<file>',
  options: [
    { flags: '--application <slug>', summary: 'which application', required: true },
    { flags: '--environment <slug>', summary: 'which of its environments', required: true },
    { flags: '--as <kind>', summary: 'what its lines become', required: true, values: Options.shape.as.options },
    { flags: '--colons', summary: 'each __ of a name becomes : in the key, as .NET reads it' },
    { flags: '--overwrite', summary: 'add a version to secrets whose value cannot be compared because SIGNALBOX_APPLICATION_KEY is not set' },
    { flags: '--dry-run', summary: 'only show what would be done' },
  ],
  settings: managementSettings,
  isForDataFolder: true,
  async run({ environment, options, rest: [file], print, writeError, stopping }) {
    if (file === undefined) throw new Error('there is no file to import');
    const wanted = readOptions(Options, options);
    const steps = await plan(await readEntries(file, wanted), targetOf(environment, wanted, stopping)).catch(explain(wanted));
    if (!wanted.dryRun) await apply(steps, stopping);
    const rows = steps.map(({ name, change }) => [name, change]);
    print(tableOf(['NAME', wanted.dryRun ? 'WOULD BE' : 'IS'], rows));
    for (const note of notesOf(steps, wanted)) writeError(note);
    return 0;
  },
};

async function readEntries(file: string, { colons }: Wanted): Promise<DotenvEntry[]> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file).catch(explainFile(file, 'read')));
    const entries = parseDotenv(text, (name) => (colons ? name.replaceAll('__', ':') : name));
    if (entries.length === 0) throw new Error(`${file} holds no NAME=value`);
    return entries;
  } catch (error) {
    if (error instanceof DotenvError) throw new Error(`${file} is not imported:\n${error.message}`, { cause: error });
    if (error instanceof TypeError) throw new Error(`${file} is not imported: it is not UTF-8`, { cause: error });
    throw error;
  }
}

function targetOf(environment: Environment, wanted: Wanted, signal: AbortSignal): Target {
  const { address: baseUrl, adminApiKeys, applicationKey } = readSettings(environment, managementSettings);
  const credential = adminApiKeys[0]?.reveal() ?? '';
  return {
    ...wanted,
    management: createManagementClient({ baseUrl, credential, signal }),
    consumer: applicationKey && createConsumerClient({ baseUrl, credential: applicationKey.reveal(), signal }),
  };
}

async function apply(steps: readonly Step[], stopping: AbortSignal): Promise<void> {
  for (const [index, { name, apply: change }] of steps.entries()) {
    try {
      stopping.throwIfAborted();
      await change?.();
    } catch (error) {
      throw new Error(`stopped at ${name}: ${describeError(error)}\n${index} of ${steps.length} were done; the same command goes on from there`, {
        cause: error,
      });
    }
  }
}

const explain =
  ({ application }: Wanted) =>
  (error: unknown): never => {
    if (error instanceof Refusal && error.status === 404 && error.problem)
      throw new Error(`there is no application '${application}', or SIGNALBOX_SECRETS_URL is another service`, { cause: error });
    if (error instanceof Refusal && error.status === 401) throw new Error('the service refuses Management__AdminApiKey', { cause: error });
    throw error;
  };

function notesOf(steps: readonly Step[], { dryRun }: Wanted): string[] {
  const count = (change: Change) => steps.filter((step) => step.change === change).length;
  const kept = count('left as it was');
  const done = `${count('created')} created, ${count('updated')} updated, ${count('unchanged')} unchanged`;
  const notes = [dryRun ? `dry run, nothing was written: ${done}` : done];
  const empty = count('left out (empty)');
  if (empty > 0) notes.push(`${empty} left out: the service keeps no empty value`);
  if (kept > 0) {
    notes.push(
      `${kept} left as they were: they have a value, which is not shown to administrators; set SIGNALBOX_APPLICATION_KEY to compare, or give --overwrite`,
    );
  }
  return notes;
}

// The plan: for each line of the file, what it changes.

/** As the table shows it: left as it was is a secret that cannot be compared, left out a value that the service does not take. */
type Change = 'created' | 'updated' | 'unchanged' | 'left as it was' | 'left out (empty)';

type Step = {
  readonly name: string;
  readonly change: Change;
  /** Absent where nothing is to be done. */
  readonly apply?: () => Promise<unknown>;
};

type Target = Wanted & {
  readonly management: ManagementClient;
  /** With the application's own key, when there is one. */
  readonly consumer: ConsumerClient | undefined;
};

type Planner = (entry: DotenvEntry) => Step | Promise<Step>;

async function plan(entries: readonly DotenvEntry[], target: Target): Promise<Step[]> {
  const { management, application, environment } = target;
  const environments = await management.environments(application);
  if (environments.every(({ slug }) => slug !== environment)) throw new Error(`application '${application}' has no environment '${environment}'`);
  const isEmpty = ({ value }: DotenvEntry) => value.trim() === '';
  requireAcceptable(
    entries.filter((entry) => !isEmpty(entry)),
    target,
  );
  const planner = await (target.as === 'configuration' ? configurationPlanner(target) : secretPlanner(target));
  const steps: Step[] = [];
  for (const entry of entries) steps.push(isEmpty(entry) ? { name: entry.name, change: 'left out (empty)' } : await planner(entry));
  return steps;
}

/** @throws Error with every entry that the service would refuse, by line and never with a value */
function requireAcceptable(entries: readonly DotenvEntry[], { as, environment: environmentSlug }: Target): void {
  const readings = ({ name, value }: DotenvEntry) =>
    as === 'configuration'
      ? [NewConfiguration.safeParse({ environmentSlug, key: name, value })]
      : [NewSecret.safeParse({ name }), ValueItem.safeParse({ environmentSlug, value })];
  const faults = entries.flatMap((entry) =>
    readings(entry)
      .flatMap(({ error }) => error?.issues ?? [])
      .map(({ path, message }) => `line ${entry.line}: the ${path.join('.')} of ${entry.name} ${message}`),
  );
  if (faults.length > 0) throw new Error(`nothing was imported:\n${faults.join('\n')}`);
}

async function configurationPlanner({ management, application, environment: environmentSlug }: Target): Promise<Planner> {
  const all = await management.configurations(application);
  const existing = new Map(all.filter((entry) => entry.environmentSlug === environmentSlug).map(({ key, value }) => [key, value]));
  return ({ name: key, value }) => {
    if (existing.get(key) === value) return { name: key, change: 'unchanged' };
    if (!existing.has(key)) return { name: key, change: 'created', apply: () => management.createConfiguration(application, { environmentSlug, key, value }) };
    return { name: key, change: 'updated', apply: () => management.updateConfiguration(application, { environmentSlug, key, value }) };
  };
}

/** Values of secrets come back to no administrator, so they are compared with the key of the application. */
async function secretPlanner(target: Target): Promise<Planner> {
  const existing = new Set((await target.management.secrets(target.application)).map(({ name }) => name));
  return (entry) => planSecret(entry, existing.has(entry.name), target);
}

async function planSecret(entry: DotenvEntry, exists: boolean, target: Target): Promise<Step> {
  const { name, value } = entry;
  const { management, application, environment: environmentSlug } = target;
  const add = () => management.setValues(application, name, [{ environmentSlug, value }]);
  if (!exists) {
    const create = async () => {
      await management.createSecret(application, { name });
      await add();
    };
    return { name, change: 'created', apply: create };
  }
  const versions = await management.versions(application, name, environmentSlug);
  if (versions.length === 0) return { name, change: 'created', apply: add };
  const comparison = await compare(entry, versions, target);
  if (comparison === 'equal') return { name, change: 'unchanged' };
  if (comparison === 'unknown' && !target.overwrite) return { name, change: 'left as it was' };
  return { name, change: 'updated', apply: add };
}

/** Whether what is served now is the entry's value. */
async function compare({ name, value }: DotenvEntry, versions: readonly SecretVersion[], target: Target): Promise<'equal' | 'different' | 'unknown'> {
  const { consumer, environment, application } = target;
  if (!consumer) return 'unknown';
  const served = await consumer.secret(name, environment).catch(refusalOf);
  if (served === 401) throw new Error('the service refuses SIGNALBOX_APPLICATION_KEY');
  // The key of another application must not be taken for this one's: it would compare with that one's values.
  const isOfApplication =
    served === 404
      ? !versions.some((version) => isActive(version, new Date(), marginMs))
      : versions.some(({ version, createdAt }) => version === served.properties.version && createdAt.getTime() === served.properties.createdOn.getTime());
  if (!isOfApplication) throw new Error(`SIGNALBOX_APPLICATION_KEY is not the key of application '${application}'`);
  return served !== 404 && served.value === value ? 'equal' : 'different';
}

function refusalOf(error: unknown): 401 | 404 {
  if (error instanceof Refusal && error.problem && (error.status === 401 || error.status === 404)) return error.status;
  throw error;
}

/** The service's clock is not this one's. */
const marginMs = 60_000;
