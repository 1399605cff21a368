// The configured broker connections, in order, and how they follow the environment file.
import type { Broker } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import type { Quota } from '../usage/store.ts';
import { type Connection, createConnection } from './connection.ts';

export type Changes = { readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] };

export type Connections = {
  /** By ascending n of BROKER_URL_n. */
  readonly all: readonly Connection[];
  readonly quotas: readonly Quota[];
  find(name: string): Connection | undefined;
  /** Reads the configuration again; what did not change keeps its connection.
   *  Rejects with every fault of it, and then nothing has changed. */
  reload(): Promise<Changes>;
  close(): Promise<void>;
};

export type ConnectionsParts = {
  readonly read: () => Promise<readonly BrokerConnection[]>;
  readonly connect: (target: BrokerConnection) => Broker;
  readonly defaultLimit: number;
  readonly clock: () => Date;
  readonly log: Log;
};

export async function createConnections({ read, connect, defaultLimit, clock, log }: ConnectionsParts): Promise<Connections> {
  let all: readonly Connection[] = [];
  let quotas: readonly Quota[] = [];
  let lastReload: Promise<unknown> = Promise.resolve();
  /** Those that were replaced or removed, until what they had in hand is settled. */
  const retiring = new Set<Promise<void>>();

  const quotaOf = ({ name, limit }: BrokerConnection): Quota => ({
    broker: name,
    monthlyLimit: limit ?? defaultLimit,
    limitSource: limit === undefined ? 'default' : 'environment',
  });

  function follow(target: BrokerConnection): Connection {
    const existing = all.find((one) => one.target.name === target.name);
    const quota = quotaOf(target);
    if (existing?.target.url === target.url) return existing.moved(target, quota);
    return createConnection({ target, quota, broker: connect(target), clock, log });
  }

  function retire(connection: Connection): void {
    const { name } = connection.target;
    const closing = connection
      .close()
      .catch((error: unknown) => log.warn({ error, broker: name }, 'a connection could not be closed'))
      .finally(() => retiring.delete(closing));
    retiring.add(closing);
  }

  async function reload(): Promise<Changes> {
    const targets = await read();
    const previous = all;
    const changes = compare(previous, targets, quotaOf);
    all = targets.map(follow);
    quotas = all.map(({ quota }) => quota);
    const isKept = ({ target }: Connection) => targets.some(({ name, url }) => name === target.name && url === target.url);
    for (const connection of previous) if (!isKept(connection)) retire(connection);
    if (all.length === 0) log.warn('no BROKER_URL_n is set: deliveries are spooled until there is one');
    return changes;
  }

  const inTurn = (): Promise<Changes> => {
    const turn = lastReload.then(reload);
    lastReload = turn.catch(() => undefined); // told to the one who asked
    return turn;
  };

  await inTurn();
  return {
    get all() {
      return all;
    },
    get quotas() {
      return quotas;
    },
    find: (name) => all.find(({ target }) => target.name === name),
    reload: inTurn,
    async close() {
      await Promise.all([...all.map((connection) => connection.close()), ...retiring]);
    },
  };
}

function compare(before: readonly Connection[], targets: readonly BrokerConnection[], quotaOf: (target: BrokerConnection) => Quota): Changes {
  const old = new Map(before.map((connection) => [connection.target.name, connection]));
  const isChanged = (target: BrokerConnection) => {
    const connection = old.get(target.name);
    return connection !== undefined && (connection.target.url !== target.url || connection.quota.monthlyLimit !== quotaOf(target).monthlyLimit);
  };
  return {
    added: targets.filter(({ name }) => !old.has(name)).map(({ name }) => name),
    removed: [...old.keys()].filter((name) => !targets.some((target) => target.name === name)),
    changed: targets.filter(isChanged).map(({ name }) => name),
  };
}
