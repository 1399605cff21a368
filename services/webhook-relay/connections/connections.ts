// The configured broker connections, in order, and how they follow the environment file.
import type { Broker } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/time.ts';
import { forgeTopology } from '../contract.ts';
import type { Quota } from '../usage/store.ts';
import { type Connection, openConnection } from './connection.ts';

/** What a reload changes, by the names of the connections. */
export type Changes = { readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] };

export type Connections = {
  /** By ascending n of BROKER_URL_n. */
  readonly all: readonly Connection[];
  readonly quotas: readonly Quota[];
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
  readonly log: Log;
  /** How long a reload waits for its new connections, while the old ones work on. */
  readonly handOverMs?: number;
};

type Wanted = Pick<Connection, 'target' | 'quota'>;
/** What the queues of a removed connection hold is not waited for longer. */
const depthTimeoutMs = 1000;

export async function createConnections(parts: ConnectionsParts): Promise<Connections> {
  const { read, connect, defaultLimit, clock, log, handOverMs = 3000 } = parts;
  const current: { all: readonly Connection[]; quotas: readonly Quota[] } = { all: [], quotas: [] };
  let lastReload: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const closing = Promise.withResolvers<undefined>();
  const listeners = new Set<() => void>();
  const retiring = new Set<Promise<void>>();

  const usable = () => listeners.forEach((listener) => listener());

  async function readWanted(isReload: boolean): Promise<Wanted[]> {
    const targets = await read(isReload);
    return targets.map((target) => ({ target, quota: quotaOf(target, defaultLimit) }));
  }

  function follow({ target, quota }: Wanted): Connection {
    const existing = current.all.find((one) => one.target.name === target.name);
    if (existing?.target.url === target.url) return existing.moved(target, quota);
    return openConnection({ target, quota, connect: (up) => connect(target, up), usable, clock, log });
  }

  async function allReady(connections: readonly Connection[]): Promise<void> {
    await Promise.race([Promise.allSettled(connections.map((connection) => connection.ready(handOverMs))), closing.promise]);
  }

  /** Closes it once what it has in hand is settled. */
  function retire(connection: Connection): void {
    const broker = connection.target.name;
    const closing = warnOfMessagesLeft(connection, log)
      .then(() => connection.close())
      .catch((error: unknown) => log.warn({ error, broker }, 'closing a removed broker connection failed'))
      .finally(() => retiring.delete(closing));
    retiring.add(closing);
  }

  async function reload(isReload: boolean): Promise<Changes> {
    if (isClosed) return compare(current.all, current.all); // what it opened nobody would close
    const wanted = await readWanted(isReload);
    const previous = current.all;
    const next = wanted.map(follow);
    // Those that go work until those that come are there: no delivery has to be spooled in between.
    if (isReload) await allReady(next.filter((connection) => !isAmong(previous, connection)));
    current.all = next;
    current.quotas = next.map(({ quota }) => quota);
    for (const connection of previous) if (!isAmong(next, connection)) retire(connection);
    // Those that came up before they were among all, and limits that were raised.
    usable();
    if (next.length === 0) log.warn('no BROKER_URL_n is set, deliveries are spooled');
    const changes = compare(previous, wanted);
    if (isReload) log.info(changes, 'broker connections reloaded');
    return changes;
  }

  const inTurn = (isReload: boolean): Promise<Changes> => {
    const turn = lastReload.then(() => reload(isReload));
    lastReload = turn.catch(() => undefined); // told to the one who asked
    return turn;
  };

  await inTurn(false);
  return Object.assign(current, {
    reload: () => inTurn(true),
    onUsable: (listener: () => void) => void listeners.add(listener),
    async close() {
      isClosed = true;
      closing.resolve(undefined);
      await lastReload;
      await Promise.all([...current.all.map((connection) => connection.close()), ...retiring]);
    },
  });
}

const quotaOf = ({ name, limit }: BrokerConnection, defaultLimit: number): Quota => ({
  broker: name,
  monthlyLimit: limit ?? defaultLimit,
  limitSource: limit === undefined ? 'default' : 'environment',
});

const isAmong = (connections: readonly Connection[], { target: { name, url } }: Connection): boolean =>
  connections.some(({ target }) => target.name === name && target.url === url);

function compare(before: readonly Wanted[], after: readonly Wanted[]): Changes {
  const old = new Map(before.map((connection) => [connection.target.name, connection]));
  const isChanged = ({ target, quota }: Wanted) => {
    const known = old.get(target.name);
    return known !== undefined && (known.target.url !== target.url || known.quota.monthlyLimit !== quota.monthlyLimit);
  };
  const namesOf = (some: readonly Wanted[]) => some.map(({ target }) => target.name);
  return {
    added: namesOf(after.filter(({ target }) => !old.has(target.name))),
    removed: [...old.keys()].filter((name) => !after.some(({ target }) => target.name === name)),
    changed: namesOf(after.filter(isChanged)),
  };
}

/** Workers that run empty a connection that goes, from memory: what a restart of theirs leaves there is the operator's to find. */
async function warnOfMessagesLeft(connection: Connection, log: Log): Promise<void> {
  const { target, quota } = connection;
  const asked = Promise.all(forgeTopology.queues.map(({ name }) => connection.depth(name)));
  const depths = await withTimeout<readonly number[] | undefined>(
    asked.catch(() => undefined),
    depthTimeoutMs,
    () => undefined,
  );
  const messages = depths && Math.max(...depths);
  if (quota.monthlyLimit === 0 && messages === 0) return;
  const found = { broker: target.name, monthlyLimit: quota.monthlyLimit, messages: messages ?? 'unknown' };
  log.warn(found, 'broker connection removed without BROKER_LIMIT_n=0 before or with messages in its queues: they are consumed by running workers only');
}
