// How a dotenv file becomes secrets: their values come back to no administrator, so they are compared with the application's key.
import { Refusal } from '../client.ts';
import { NewSecret, type SecretVersion, ValueItem } from '../contract.ts';
import type { DotenvEntry } from '../../platform/config/dotenv.ts';
import { isEmpty, requireAcceptable, type Step, type Target } from './import-plan.ts';

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
