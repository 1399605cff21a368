// How a dotenv file becomes configuration entries.
import { NewConfiguration } from '../contract.ts';
import type { DotenvEntry } from '../../platform/config/dotenv.ts';
import { isEmpty, requireAcceptable, type Step, type Target } from './import-plan.ts';

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
