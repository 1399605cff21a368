// The configured broker connections, in order, and how they follow the environment file.
import type { Broker } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { forgeTopology, type ReloadResult } from '../contract.ts';
import type { Quota } from '../usage/store.ts';
import { type Connection, openConnection } from './connection.ts';

/** The changes of a reload, by the names of the connections. */
type Changes = Omit<ReloadResult, 'active'>;

export type Connections = Awaited<ReturnType<typeof createConnections>>;

type ConnectionsParts = {
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

export async function createConnections({ read, connect, defaultLimit, clock, log, handOverMs = 3000 }: ConnectionsParts) {
  const current: { all: readonly Connection[]; quotas: readonly Quota[] } = { all: [], quotas: [] };
  let lastReload: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const listeners: (() => void)[] = [];
  const retired: Promise<void>[] = [];

  const usable = () => listeners.forEach((listener) => listener());
  const limitOf = ({ limit }: BrokerConnection) => limit ?? defaultLimit;

  function connectionTo(target: BrokerConnection): Connection {
    const existing = current.all.find((connection) => connection.target.name === target.name && connection.target.url === target.url);
    return existing ?? openConnection({ target, connect, usable, clock, log });
  }

  function changesTo(targets: readonly BrokerConnection[]): Changes {
    const before = new Map(current.all.map(({ target }) => [target.name, target]));
    const changed = targets.filter((target) => {
      const known = before.get(target.name);
      return known && (known.url !== target.url || limitOf(known) !== limitOf(target));
    });
    const names = targets.map(({ name }) => name);
    return {
      added: names.filter((name) => !before.has(name)),
      removed: [...before.keys()].filter((name) => !names.includes(name)),
      changed: changed.map(({ name }) => name),
    };
  }

  /** Running workers empty a removed connection, from memory: after a restart of theirs its messages are left to the operator. */
  async function warnOfMessagesLeft({ target, depth }: Connection): Promise<void> {
    const depths = await Promise.all(forgeTopology.queues.map(({ name }) => depth(name)));
    const messages = depths.includes(undefined) ? 'unknown' : Math.max(...depths.filter((found) => found !== undefined));
    const monthlyLimit = limitOf(target);
    if (monthlyLimit === 0 && messages === 0) return;
    const found = { broker: target.name, monthlyLimit, messages };
    log.warn(found, 'broker connection removed without BROKER_LIMIT_n=0 before or with messages in its queues: they are consumed by running workers only');
  }

  /** Closes it once its publications in flight are settled. */
  async function retire(connection: Connection): Promise<void> {
    try {
      await warnOfMessagesLeft(connection);
      await connection.close();
    } catch (error) {
      log.warn({ error, broker: connection.target.name }, 'closing a removed broker connection failed');
    }
  }

  async function load(isReload: boolean): Promise<Changes> {
    if (isClosed) return { added: [], removed: [], changed: [] }; // a connection that it opened would never be closed
    const targets = await read(isReload);
    const previous = current.all;
    const changes = changesTo(targets);
    const next = targets.map((target) => ({ target, connection: connectionTo(target) }));
    const all = next.map(({ connection }) => connection);
    // Removed connections work until the added ones stand: no delivery has to be spooled in between.
    if (isReload) await Promise.allSettled(all.filter((one) => !previous.includes(one)).map((added) => added.ready(handOverMs)));
    for (const { target, connection } of next) connection.target = target;
    current.all = all;
    current.quotas = targets.map((target) => ({
      broker: target.name,
      monthlyLimit: limitOf(target),
      limitSource: target.limit === undefined ? 'default' : 'environment',
    }));
    retired.push(...previous.filter((one) => !all.includes(one)).map(retire));
    // Added connections may have come up already, and limits may have been raised.
    usable();
    if (all.length === 0) log.warn('no BROKER_URL_n is set, deliveries are spooled');
    if (isReload) log.info(changes, 'broker connections reloaded');
    return changes;
  }

  await load(false);
  return Object.assign(current, {
    /**
     * Reads the configuration again; what did not change keeps its connection, what goes is kept until what comes is connected, or had
     * its time. Rejects with every fault of it, and then nothing has changed; nor has it once closed.
     */
    reload(): Promise<Changes> {
      const turn = lastReload.then(() => load(true));
      lastReload = turn.catch(() => undefined); // told to the one who asked
      return turn;
    },
    /** Calls the listener whenever one of them can perhaps be published to again, and after every reload. */
    onUsable: (listener: () => void) => void listeners.push(listener),
    async close(): Promise<void> {
      isClosed = true;
      await lastReload;
      await Promise.all([...current.all.map((connection) => connection.close()), ...retired]);
    },
  });
}
