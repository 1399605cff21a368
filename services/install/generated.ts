// Which credentials a fresh installation needs, by their keys in its Secret, and how each is made.
import type { Deployable } from '../platform/process/deployable.ts';
import { randomCredential } from '../platform/config/settings.ts';

/** The servers' own, made whatever is switched on: what is switched on later finds them. */
const ofServers = ['postgres-admin-password', 'postgres-broker-password', 'rabbitmq-password', 'rabbitmq-erlang-cookie', 'redis-password'];

/** Key → its maker. Every value is of A–Z, a–z, 0–9, - and _ unless a setting has a shape of its own: it may stand in a URL. */
export function generatedCredentials(deployables: readonly Pick<Deployable, 'settings' | 'migrations'>[]): ReadonlyMap<string, () => string> {
  const passwords = [...ofServers, ...deployables.map(({ migrations }) => `postgres-${migrations.schema}-password`)];
  const declared = deployables
    .flatMap(({ settings }) => Object.values(settings))
    .flatMap(({ name, generate }) => (generate ? [[name, generate] as const] : []));
  return new Map([...passwords.map((name) => [name, randomCredential] as const), ...declared]);
}
