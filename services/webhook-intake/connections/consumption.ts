// Consumes one queue from every configured broker connection, while connections come and go.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandler, Broker } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import { createSource, type Source } from './source.ts';
import { type Ages, createStanding, type Standing } from './standing.ts';

/** `BROKER_URL_<n>` and where it leads. */
export type Connection = { readonly name: string; readonly url: string };

export type ConsumptionParts = {
  readonly queue: string;
  readonly connect: (connection: Connection) => Broker;
  readonly handle: BatchHandler;
  /** How long the queue of a removed connection must have been empty: longer than any delayed retry, which its depth does not show. */
  readonly quietMs: number;
  /** How long a removed connection may be unreachable before what is on it is given up. */
  readonly unreachableMs: number;
  readonly clock: () => number;
  readonly log: Log;
};

type Consumed = { connection: Connection; readonly source: Source; readonly standing: Standing };

export type ConsumedConnection = Connection & Ages;

export type ConnectionState = { readonly name: string; readonly isConfigured: boolean; readonly isConnected: boolean };

export type Consumption = {
  /** Those that are new are consumed from now on; those that are missing are on their way out. */
  configure(connections: readonly Connection[]): void;
  /** Goes on with a removed connection that another process has consumed. Does nothing when it is consumed already. */
  takeUp(connection: Connection, ages: Ages): void;
  /** Lets go of removed connections whose time has come; to be called every now and then. */
  tidy(): Promise<void>;
  /** Works until the queue is empty everywhere or the deadline passes. @throws when a configured connection cannot be reached; the others were worked through */
  drain(deadline: AbortSignal): Promise<void>;
  /** Removed ones first: one of the others may bear a name of theirs by now, and what is said last of a name counts. */
  states(): readonly ConnectionState[];
  /** Undefined once closed: then nobody knows. */
  consumed(): readonly ConsumedConnection[] | undefined;
  close(): Promise<void>;
};

export function createConsumption(parts: ConsumptionParts): Consumption {
  const { queue, connect, handle, quietMs, unreachableMs, clock, log } = parts;
  // By URL and not by name: when a number is given another URL, what waits at the old one must still be fetched.
  const consumed = new Map<string, Consumed>();
  let isClosed = false;

  function open(connection: Connection, ages: Ages): void {
    if (isClosed) return;
    const source = createSource(connect(connection), queue, handle);
    const standing = createStanding({ clock, unreachableMs, isConnected: () => source.broker.isConnected }, ages);
    consumed.set(connection.url, { connection, source, standing });
  }

  async function leave({ connection, source, standing }: Consumed, reason: string): Promise<void> {
    log.info({ queue, connection: connection.name, reason }, 'no longer consuming a broker connection');
    consumed.delete(connection.url);
    // It was named again while its queue was looked at.
    if (standing.isConfigured) open(connection, justNow);
    await source.close();
  }

  async function tidyOne(one: Consumed): Promise<void> {
    one.standing.look();
    if (one.standing.isConfigured) return;
    if (one.standing.isHopeless(leastTryMs)) await leave(one, hopeless);
    else if (await one.source.drained(quietMs)) await leave(one, empty);
  }

  async function drainOne(one: Consumed, deadline: AbortSignal): Promise<void> {
    const { source, standing } = one;
    await reachable(source.broker, deadline);
    while (!deadline.aborted) {
      if (await source.drained(standing.isConfigured ? idleMs : quietMs)) return standing.isConfigured ? undefined : leave(one, empty);
      await sleep(lookEveryMs, undefined, { signal: deadline }).catch(() => undefined); // the deadline ends the wait
    }
  }

  async function excuseRemoved(one: Consumed, error: unknown): Promise<void> {
    if (one.standing.isConfigured) throw error;
    if (one.standing.isHopeless(0)) return leave(one, hopeless);
    log.warn({ queue, connection: one.connection.name, reason: one.source.broker.lastError }, 'a removed broker connection cannot be reached');
  }

  return {
    configure(connections) {
      const urls = new Set(connections.map(({ url }) => url));
      for (const { connection, standing } of consumed.values()) standing.setConfigured(urls.has(connection.url));
      for (const connection of connections) {
        const known = consumed.get(connection.url);
        // Its number may be another one by now.
        if (known) known.connection = connection;
        else {
          log.info({ queue, connection: connection.name }, 'consuming a broker connection');
          open(connection, justNow);
        }
      }
    },
    takeUp(connection, ages) {
      if (isClosed || consumed.has(connection.url)) return;
      log.info({ queue, connection: connection.name }, 'consuming a broker connection that was removed before its queue was empty');
      open(connection, ages);
    },
    async tidy() {
      await Promise.all([...consumed.values()].map(tidyOne));
    },
    async drain(deadline) {
      const all = [...consumed.values()];
      const results = await Promise.allSettled(all.map((one) => drainOne(one, deadline).catch((error: unknown) => excuseRemoved(one, error))));
      const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => toError(reason));
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${results.length} connections: ${failures[0]?.message}`);
    },
    states: () =>
      [...consumed.values()]
        .map(({ connection: { name }, standing: { isConfigured }, source }) => ({ name, isConfigured, isConnected: source.broker.isConnected }))
        .sort((a, b) => Number(a.isConfigured) - Number(b.isConfigured)),
    // Not a spread: in a BrokerConnection the URL is hidden from it.
    consumed: () => (isClosed ? undefined : [...consumed.values()].map(({ connection: { name, url }, standing }) => ({ name, url, ...standing.ages() }))),
    async close() {
      isClosed = true;
      await Promise.all([...consumed.values()].map(({ source }) => source.close()));
      consumed.clear();
    },
  };
}

const justNow: Ages = { removedForMs: null, unreachableForMs: 0 };

/** However long ago it was reachable: a process tries for so long before it gives a connection up. */
const leastTryMs = 60_000;
const hopeless = 'it was removed and has been unreachable for too long';
const empty = 'it was removed and its queue is empty';

/** When one run drains its queue: how long it waits for a connection, how often it looks, and what counts as idle. */
const reachableMs = 15_000;
const lookEveryMs = 50;
const idleMs = 200;

/** @returns when it is connected, or the deadline has come. @throws when it is not connected in time */
async function reachable(broker: Broker, deadline: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const end = () => ended.resolve();
  deadline.addEventListener('abort', end);
  if (deadline.aborted) end();
  await Promise.race([broker.ready(reachableMs), ended.promise]).finally(() => deadline.removeEventListener('abort', end));
}

const toError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));
