// How a dotenv file becomes configuration entries or secrets: for each line of the file, what it changes.
import type { z } from 'zod';
import type { DotenvEntry } from '../../platform/config/dotenv.ts';
import { type ConsumerClient, type ManagementClient, Refusal } from '../client.ts';
import { NewConfiguration, NewSecret, type SecretVersion, ValueItem } from '../contract.ts';

/** `keep`: a secret that cannot be compared; `empty`: a value that the service does not take. */
export type Change = 'create' | 'update' | 'unchanged' | 'keep' | 'empty';

export type Step = {
  readonly name: string;
  readonly change: Change;
  /** Absent where nothing is to be done. */
  readonly apply?: () => Promise<unknown>;
};

export type Target = {
  readonly management: ManagementClient;
  /** With the application's own key, when there is one. */
  readonly consumer: ConsumerClient | undefined;
  readonly application: string;
  readonly environment: string;
  /** Secrets that cannot be compared get a new version. */
  readonly overwrite: boolean;
};

const isEmpty = ({ value }: DotenvEntry) => value.trim() === '';

/** @throws Error with every entry that the service would refuse, by line and never with a value */
function requireAcceptable(entries: readonly DotenvEntry[], faultsOf: (entry: DotenvEntry) => readonly z.core.$ZodIssue[]): void {
  const faults = entries.flatMap((entry) =>
    faultsOf(entry).map(({ path, message }) => `line ${entry.line}: the ${path.join('.')} of ${entry.name} ${message}`),
  );
  if (faults.length > 0) throw new Error(`the file is not imported:\n${faults.join('\n')}`);
}

export async function planConfigurations(entries: readonly DotenvEntry[], target: Target): Promise<Step[]> {
  const { management, application, environment: environmentSlug } = target;
  requireAcceptable(
    entries.filter((entry) => !isEmpty(entry)),
    ({ name: key, value }) => NewConfiguration.safeParse({ environmentSlug, key, value }).error?.issues ?? [],
  );
  const all = await management.configurations(application);
  const existing = new Map(all.filter((entry) => entry.environmentSlug === environmentSlug).map(({ key, value }) => [key, value]));

  return entries.map((entry): Step => {
    const { name: key, value } = entry;
    if (isEmpty(entry)) return { name: key, change: 'empty' };
    if (existing.get(key) === value) return { name: key, change: 'unchanged' };
    if (!existing.has(key)) return { name: key, change: 'create', apply: () => management.createConfiguration(application, { environmentSlug, key, value }) };
    return { name: key, change: 'update', apply: () => management.updateConfiguration(application, { environmentSlug, key, value }) };
  });
}

/** Values of secrets come back to no administrator, so they are compared with the key of the application. */
export async function planSecrets(entries: readonly DotenvEntry[], target: Target): Promise<Step[]> {
  const { management, application, environment: environmentSlug } = target;
  requireAcceptable(
    entries.filter((entry) => !isEmpty(entry)),
    ({ name, value }) => [...(NewSecret.safeParse({ name }).error?.issues ?? []), ...(ValueItem.safeParse({ environmentSlug, value }).error?.issues ?? [])],
  );
  const existing = new Set((await management.secrets(application)).map(({ name }) => name));

  const steps: Step[] = [];
  for (const entry of entries) steps.push(await planSecret(entry, existing.has(entry.name), target));
  return steps;
}

async function planSecret(entry: DotenvEntry, exists: boolean, target: Target): Promise<Step> {
  const { name, value } = entry;
  const { management, application, environment: environmentSlug } = target;
  if (isEmpty(entry)) return { name, change: 'empty' };
  const add = () => management.setValues(application, name, [{ environmentSlug, value }]);
  if (!exists) {
    const create = async () => {
      await management.createSecret(application, { name });
      await add();
    };
    return { name, change: 'create', apply: create };
  }
  const versions = await management.versions(application, name, environmentSlug);
  if (versions.length === 0) return { name, change: 'create', apply: add };
  const comparison = await compare(entry, versions, target);
  if (comparison === 'equal') return { name, change: 'unchanged' };
  if (comparison === 'unknown' && !target.overwrite) return { name, change: 'keep' };
  return { name, change: 'update', apply: add };
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
      ? !versions.some(isActive)
      : versions.some(({ version, createdAt }) => version === served.properties.version && createdAt.getTime() === served.properties.createdOn.getTime());
  if (!isOfApplication) throw new Error(`SIGNALBOX_APPLICATION_KEY is not the key of application '${application}'`);
  return served !== 404 && served.value === value ? 'equal' : 'different';
}

function refusalOf(error: unknown): 401 | 404 {
  if (error instanceof Refusal && error.problem && (error.status === 401 || error.status === 404)) return error.status;
  throw error;
}

/** Away from its bounds: the service's clock is not this one's. */
const marginMs = 60_000;
function isActive({ isEnabled, notBefore, expiresAt }: SecretVersion): boolean {
  const now = Date.now();
  const isStarted = notBefore === null || notBefore.getTime() < now - marginMs;
  const isOver = expiresAt !== null && expiresAt.getTime() < now + marginMs;
  return isEnabled && isStarted && !isOver;
}
