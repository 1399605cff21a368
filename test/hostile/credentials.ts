// Which of the credentials that a house was given each scheme of its services accepts: found by asking, so that no service is named here.
import type { House } from './house.ts';
import { credentialHeader, operationsOf } from './operations.ts';

export type Held = { readonly service: string; readonly scheme: string; readonly header: readonly [name: string, value: string] };

/** One for each scheme that takes a credential of the settings; what is made at run time, as keys of applications are, is not among them. */
export async function heldCredentials({ services, settings }: Pick<House, 'services' | 'settings'>): Promise<readonly Held[]> {
  const held: Held[] = [];
  for (const { name: service, port } of services) {
    const guarded = operationsOf(service).filter(({ method, scheme, path }) => method === 'get' && scheme !== undefined && !path.includes('{'));
    for (const [scheme, [operation]] of Map.groupBy(guarded, ({ scheme: one = '' }) => one)) {
      for (const value of Object.values(settings)) {
        if (/[^\w.-]/.test(value)) continue; // a URL, a path
        const header = credentialHeader(service, scheme, value);
        const { status } = await fetch(`http://127.0.0.1:${port}${operation?.path ?? ''}`, { headers: [[...header]] });
        if (status !== 401) held.push({ service, scheme, header });
      }
    }
  }
  return held;
}
