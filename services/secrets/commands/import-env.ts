// `signalbox secrets import-env`: imports a dotenv file into the configuration or the secrets of an application.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Environment, readSettings } from '../../platform/config/config.ts';
import { type DotenvEntry, DotenvError, parseDotenv } from '../../platform/config/dotenv.ts';
import { readOptions, type Subcommand } from '../../platform/process/subcommand.ts';
import { tableOf } from '../../platform/process/table.ts';
import { describeError } from '../../platform/errors.ts';
import { createConsumerClient, createManagementClient, Refusal } from '../client.ts';
import { explainFile } from './files.ts';
import { type Change, planConfigurations, planSecrets, type Step, type Target } from './import-plan.ts';
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
  summary: 'take a dotenv file over into an application; reads SIGNALBOX_SECRETS_URL and Management__AdminApiKey (or its _FILE); values are never shown',
  operands: '<file>',
  options: [
    { flags: '--application <slug>', summary: 'which application', required: true },
    { flags: '--environment <slug>', summary: 'which of its environments', required: true },
    { flags: '--as <kind>', summary: 'configuration or secrets', required: true },
    { flags: '--colons', summary: 'each __ of a name becomes : in the key, as .NET reads it' },
    { flags: '--overwrite', summary: 'add a version to secrets whose value cannot be compared because SIGNALBOX_APPLICATION_KEY is not set' },
    { flags: '--dry-run', summary: 'only show what would be done' },
  ],
  settings: managementSettings,
  async run({ environment, options, rest: [file], print, writeError, stopping }) {
    if (file === undefined) throw new Error('there is no file to import');
    const wanted = readOptions(Options, options);
    const steps = await plan(await readEntries(file, wanted), targetOf(environment, wanted, stopping), wanted).catch(explain(wanted));
    if (!wanted.dryRun) await apply(steps, stopping);
    const rows = steps.map(({ name, change }) => [name, words[change]]);
    print(tableOf(['NAME', wanted.dryRun ? 'WOULD BE' : 'IS'], rows));
    for (const note of notesOf(steps, wanted)) writeError(note);
    return 0;
  },
};

const words: Readonly<Record<Change, string>> = {
  create: 'created',
  update: 'updated',
  unchanged: 'unchanged',
  keep: 'left as it was',
  empty: 'left out (empty)',
};

async function readEntries(file: string, { colons }: Wanted): Promise<DotenvEntry[]> {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file).catch(explainFile(file, 'read')));
    return parseDotenv(text, (name) => (colons ? name.replaceAll('__', ':') : name));
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
    management: createManagementClient({ baseUrl, credential, signal }),
    consumer: applicationKey && createConsumerClient({ baseUrl, credential: applicationKey.reveal(), signal }),
    application: wanted.application,
    environment: wanted.environment,
    overwrite: wanted.overwrite,
  };
}

async function plan(entries: readonly DotenvEntry[], target: Target, { as, application, environment }: Wanted): Promise<Step[]> {
  const environments = await target.management.environments(application);
  if (environments.every(({ slug }) => slug !== environment)) throw new Error(`application '${application}' has no environment '${environment}'`);
  return as === 'configuration' ? planConfigurations(entries, target) : planSecrets(entries, target);
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
    if (error instanceof Refusal && error.status === 404 && error.problem) throw new Error(`there is no application '${application}'`, { cause: error });
    if (error instanceof Refusal && error.status === 401) throw new Error('the service refuses Management__AdminApiKey', { cause: error });
    throw error;
  };

function notesOf(steps: readonly Step[], { dryRun }: Wanted): string[] {
  const count = (change: Change) => steps.filter((step) => step.change === change).length;
  const kept = count('keep');
  const done = `${count('create')} created, ${count('update')} updated, ${count('unchanged')} unchanged`;
  const notes = [dryRun ? `dry run, nothing was written: ${done}` : done];
  if (count('empty') > 0) notes.push(`${count('empty')} left out: the service keeps no empty value`);
  if (kept > 0) {
    notes.push(
      `${kept} left as they were: they have a value, which is not shown to administrators; set SIGNALBOX_APPLICATION_KEY to compare, or give --overwrite`,
    );
  }
  return notes;
}
