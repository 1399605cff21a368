// The configured broker connections, in order, and how they follow the environment file.
import type { Broker } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import type { Quota } from '../usage/store.ts';
import { type Changes, compare, type Wanted } from './changes.ts';
import { type Connection, openConnection } from './connection.ts';
import { createRetired } from './retired.ts';

export type Connections = {
  /** By ascending n of BROKER_URL_n. */
  readonly all: readonly Connection[];
  readonly quotas: readonly Quota[];
  find(name: string): Connection | undefined;
  /** Reads the configuration again; what did not change keeps its connection, what goes is kept until what comes
   *  is connected, or had its time. Rejects with every fault of it, and then nothing has changed; nor has it once closed. */
  reload(): Promise<Changes>;
  /** Calls the listener whenever one of them can perhaps be published to again, and after every reload. */
  onUsable(listener: () => void): void;
  close(): Promise<void>;
};

export type ConnectionsParts = {
  /** @param isReload false at the start, when there is nothing to keep */
  readonly read: (isReload: boolean) => Promise<readonly BrokerConnection[]>;
  /** @param up to be called whenever the connection stands, the first time and again */
  readonly connect: (target: BrokerConnection, up: () => void) => Broker;
  readonly defaultLimit: number;
  readonly clock: () => Date;
  /** Milliseconds of a steady clock, by which a connection is left alone after a failure. */
  readonly steadyMs?: () => number;
  readonly log: Log;
  /** How long a reload waits for its new connections, while the old ones work on. */
  readonly handOverMs?: number;
};

export async function createConnections(parts: ConnectionsParts): Promise<Connections> {
  const { read, connect, defaultLimit, clock, steadyMs = () => performance.now(), log, handOverMs = 3000 } = parts;
  let all: readonly Connection[] = [];
  let quotas: readonly Quota[] = [];
  let lastReload: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const closing = Promise.withResolvers<undefined>();
  const listeners = new Set<() => void>();
  const retired = createRetired(log);

  const usable = () => listeners.forEach((listener) => listener());

  async function readWanted(isReload: boolean): Promise<Wanted[]> {
    const targets = await read(isReload);
    return targets.map((target) => ({ target, quota: quotaOf(target, defaultLimit) }));
  }

  function follow({ target, quota }: Wanted): Connection {
    const existing = all.find((one) => one.target.name === target.name);
    if (existing?.target.url === target.url) return existing.moved(target, quota);
    return openConnection({ target, quota, connect: (up) => connect(target, up), usable, clock, steadyMs, log });
  }

  async function allReady(connections: readonly Connection[]): Promise<void> {
    await Promise.race([Promise.allSettled(connections.map((connection) => connection.ready(handOverMs))), closing.promise]);
  }

  async function reload(isReload: boolean): Promise<Changes> {
    if (isClosed) return compare(all, all); // what it opened nobody would close
    const wanted = await readWanted(isReload);
    const previous = all;
    const next = wanted.map(follow);
    // Those that go work until those that come are there: no delivery has to be spooled in between.
    if (isReload) await allReady(next.filter((connection) => !isAmong(previous, connection)));
    all = next;
    quotas = all.map(({ quota }) => quota);
    for (const connection of previous) if (!isAmong(next, connection)) retired.add(connection);
    // Those that came up before they were among all, and limits that were raised.
    usable();
    if (all.length === 0) log.warn('no BROKER_URL_n is set: deliveries are spooled until there is one');
    const changes = compare(previous, wanted);
    if (isReload) log.info(changes, 'the connections were reloaded');
    return changes;
  }

  const inTurn = (isReload: boolean): Promise<Changes> => {
    const turn = lastReload.then(() => reload(isReload));
    lastReload = turn.catch(() => undefined); // told to the one who asked
    return turn;
  };

  await inTurn(false);
  return {
    get all() {
      return all;
    },
    get quotas() {
      return quotas;
    },
    find: (name) => all.find(({ target }) => target.name === name),
    reload: () => inTurn(true),
    onUsable: (listener) => void listeners.add(listener),
    async close() {
      isClosed = true;
      closing.resolve(undefined);
      await lastReload;
      await Promise.all([...all.map((connection) => connection.close()), retired.closed()]);
    },
  };
}

const quotaOf = ({ name, limit }: BrokerConnection, defaultLimit: number): Quota => ({
  broker: name,
  monthlyLimit: limit ?? defaultLimit,
  limitSource: limit === undefined ? 'default' : 'environment',
});

const isAmong = (connections: readonly Connection[], { target: { name, url } }: Connection): boolean =>
  connections.some(({ target }) => target.name === name && target.url === url);
