// Everything that can be run, by name; each is loaded when it is asked for.
import type { Deployable } from './platform/deployable.ts';

const loaders: Readonly<Record<string, () => Promise<{ deployable: Deployable }>>> = {
  'webhook-relay': () => import('./webhook-relay/main.ts'),
  'webhook-intake': () => import('./webhook-intake/main.ts'),
  secrets: () => import('./secrets/main.ts'),
};

async function load(name: string): Promise<Deployable> {
  const loader = loaders[name];
  if (!loader) throw new Error(`there is no service '${name}'; there are: ${Object.keys(loaders).join(', ')}`);
  return (await loader()).deployable;
}

/** First words of `signalbox <word> <verb>`. */
const withVerbs: Readonly<Record<string, { readonly name: string; readonly summary: string }>> = {
  secrets: { name: 'secrets', summary: 'run programs with their secrets; import, back up, restore, rewrap, audit' },
};

export const deployables = {
  names: Object.keys(loaders),
  load: (names: readonly string[]) => Promise.all(names.map(load)),
  withVerbs,
  loadAll: () => deployables.load(deployables.names),
};
