// What a reload changes, by the names of the connections.
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Quota } from '../usage/store.ts';
import type { Connection } from './connection.ts';

export type Changes = { readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] };

type Known = Pick<Connection, 'target' | 'quota'>;
export type Wanted = { readonly target: BrokerConnection; readonly quota: Quota };

export function compare(before: readonly Known[], after: readonly Wanted[]): Changes {
  const old = new Map(before.map((connection) => [connection.target.name, connection]));
  const isChanged = ({ target, quota }: Wanted) => {
    const known = old.get(target.name);
    return known !== undefined && (known.target.url !== target.url || known.quota.monthlyLimit !== quota.monthlyLimit);
  };
  const namesOf = (some: readonly Known[]) => some.map(({ target }) => target.name);
  return {
    added: namesOf(after.filter(({ target }) => !old.has(target.name))),
    removed: [...old.keys()].filter((name) => !after.some(({ target }) => target.name === name)),
    changed: namesOf(after.filter(isChanged)),
  };
}
