// Consumes one queue from every configured broker connection, while connections come and go.
import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchHandler, Broker } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import { createSource, type Source } from './source.ts';

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

type Consumed = { connection: Connection; readonly source: Source; isConfigured: boolean; lastReachableMs: number };

export type ConnectionState = { readonly name: string; readonly isConfigured: boolean; readonly isConnected: boolean };

export type Consumption = {
  /** Those that are new are consumed from now on; those that are missing are on their way out. */
  configure(connections: readonly Connection[]): void;
  /** Lets go of removed connections whose time has come; to be called every now and then. */
  tidy(): Promise<void>;
  /** Works until the queue is empty everywhere or the deadline passes. @throws when a connection cannot be reached; the others were worked through */
  drain(deadline: AbortSignal): Promise<void>;
  /** Removed ones first: one of the others may bear a name of theirs by now, and what is said last of a name counts. */
  states(): readonly ConnectionState[];
  close(): Promise<void>;
};

export function createConsumption(parts: ConsumptionParts): Consumption {
  const { queue, connect, handle, quietMs, unreachableMs, clock, log } = parts;
  // By URL and not by name: when a number is given another URL, what waits at the old one must still be fetched.
  const consumed = new Map<string, Consumed>();

  function open(connection: Connection): void {
    log.info({ queue, connection: connection.name }, 'consuming a broker connection');
    const source = createSource(connect(connection), queue, handle);
    consumed.set(connection.url, { connection, source, isConfigured: true, lastReachableMs: clock() });
  }

  async function leave({ connection, source }: Consumed, reason: string): Promise<void> {
    log.info({ queue, connection: connection.name, reason }, 'no longer consuming a broker connection');
    consumed.delete(connection.url);
    await source.close();
  }

  async function tidyOne(one: Consumed): Promise<void> {
    if (one.source.broker.isConnected) one.lastReachableMs = clock();
    if (one.isConfigured) return;
    if (clock() - one.lastReachableMs >= unreachableMs) await leave(one, 'it was removed and has been unreachable for too long');
    else if (await one.source.drained(quietMs)) await leave(one, 'it was removed and its queue is empty');
  }

  async function drainOne({ source }: Consumed, deadline: AbortSignal): Promise<void> {
    await source.broker.ready(reachableMs);
    while (!deadline.aborted && !(await source.drained(idleMs))) await sleep(lookEveryMs, undefined, { signal: deadline }).catch(() => undefined); // the deadline ends the wait
  }

  return {
    configure(connections) {
      const urls = new Set(connections.map(({ url }) => url));
      for (const one of consumed.values()) one.isConfigured = urls.has(one.connection.url);
      for (const connection of connections) {
        const known = consumed.get(connection.url);
        // Its number may be another one by now.
        if (known) known.connection = connection;
        else open(connection);
      }
    },
    async tidy() {
      await Promise.all([...consumed.values()].map(tidyOne));
    },
    async drain(deadline) {
      const results = await Promise.allSettled([...consumed.values()].map((one) => drainOne(one, deadline)));
      const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => toError(reason));
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${results.length} connections: ${failures[0]?.message}`);
    },
    states: () =>
      [...consumed.values()]
        .map(({ connection, isConfigured, source }) => ({ name: connection.name, isConfigured, isConnected: source.broker.isConnected }))
        .sort((a, b) => Number(a.isConfigured) - Number(b.isConfigured)),
    async close() {
      await Promise.all([...consumed.values()].map(({ source }) => source.close()));
      consumed.clear();
    },
  };
}

/** When one run drains its queue: how long it waits for a connection, how often it looks, and what counts as idle. */
const reachableMs = 15_000;
const lookEveryMs = 50;
const idleMs = 200;

const toError = (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason)));
