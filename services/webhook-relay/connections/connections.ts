// The configured broker connections, in order, and how they follow the environment file.
import type { Broker } from '../../platform/broker/broker.ts';
import type { BrokerConnection } from '../../platform/broker/environment.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeout } from '../../platform/time.ts';
import { forgeTopology, type ReloadResult } from '../contract.ts';
import type { Quota } from '../usage/store.ts';
import { type Connection, openConnection, type Place } from './publishing.ts';

/** What a reload changes, by the names of the connections. */
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

/** What the queues of a removed connection hold is not waited for longer. */
const depthTimeoutMs = 1000;

export async function createConnections(parts: ConnectionsParts) {
  const { read, connect, defaultLimit, clock, log, handOverMs = 3000 } = parts;
  const current: { all: readonly Connection[]; quotas: readonly Quota[] } = { all: [], quotas: [] };
  let lastReload: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const listeners = new Set<() => void>();
  const retiring = new Set<Promise<void>>();

  const usable = () => listeners.forEach((listener) => listener());

  function connectionTo(place: Place): Connection {
    const { name, url } = place.target;
    const existing = current.all.find(({ target }) => target.name === name && target.url === url);
    return existing ?? openConnection({ place, connect: (up) => connect(place.target, up), usable, clock, log });
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

  async function load(isReload: boolean): Promise<Changes> {
    if (isClosed) return { added: [], removed: [], changed: [] }; // what it opened nobody would close
    const wanted = (await read(isReload)).map((target) => ({ target, quota: quotaOf(target, defaultLimit) }));
    const previous = current.all;
    const changes = compare(previous, wanted);
    const next = wanted.map((place) => ({ place, connection: connectionTo(place) }));
    const added = next.filter(({ connection }) => !previous.includes(connection));
    // Those that go work until those that come are there: no delivery has to be spooled in between.
    if (isReload) await Promise.allSettled(added.map(({ connection }) => connection.ready(handOverMs)));
    for (const { place, connection } of next) connection.moveTo(place);
    current.all = next.map(({ connection }) => connection);
    current.quotas = wanted.map(({ quota }) => quota);
    for (const connection of previous) if (!current.all.includes(connection)) retire(connection);
    // Those that came up before they were among all, and limits that were raised.
    usable();
    if (next.length === 0) log.warn('no BROKER_URL_n is set, deliveries are spooled');
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
    onUsable: (listener: () => void) => void listeners.add(listener),
    async close(): Promise<void> {
      isClosed = true;
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

function compare(before: readonly Place[], after: readonly Place[]): Changes {
  const old = new Map(before.map((place) => [place.target.name, place]));
  const isChanged = ({ target, quota }: Place) => {
    const known = old.get(target.name);
    return known !== undefined && (known.target.url !== target.url || known.quota.monthlyLimit !== quota.monthlyLimit);
  };
  const namesOf = (places: readonly Place[]) => places.map(({ target }) => target.name);
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
