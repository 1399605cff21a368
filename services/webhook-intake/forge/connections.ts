// Consumes one queue from every configured broker connection, while connections come and go.
import { once } from 'node:events';
import type { BatchHandler, Broker, Consumer } from '../../platform/broker/broker.ts';
import type { BrokerSettings } from '../../platform/broker/environment.ts';
import { finishWithin } from '../../platform/broker/outcomes.ts';
import { describeError, toError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createWakeUp, every, sleepUntil } from '../../platform/time.ts';
import type { Counts } from '../jobs/runner.ts';
import { redeliveryGraceMs } from './batch-worker.ts';

/** `BROKER_URL_<n>` and where it leads. */
export type Connection = { readonly name: string; readonly url: string };

type ConnectionsParts = {
  readonly queue: string;
  readonly connect: (connection: Connection) => Broker;
  readonly handle: BatchHandler;
  /** Counts deliveries of all connections together. */
  readonly counts?: Counts;
  /** How long the queue of a removed connection must have been empty: longer than any delayed retry, which its depth does not show. */
  readonly quietMs: number;
  /** Called when the queue of a connection was seen to be empty, with nothing of it in work: every half minute, and before a removed connection is left. */
  readonly onEmpty?: (connection: Connection) => Promise<void>;
  readonly clock: () => number;
  readonly log: Log;
};

type Consumed = {
  connection: Connection;
  readonly broker: Broker;
  consumer: Consumer;
  /** When its last batch ended or its queue was last seen not to be empty; the end of the longest pause after one that failed; no end while one is in work. */
  busyUntilMs: number;
  isConfigured: boolean;
  /** When it was last seen to be connected, or was removed. By the clock. */
  reachableAtMs: number;
  /** When `onEmpty` was last called for it. */
  emptyToldAtMs: number;
};

/**
 * One batch in work and another one fetched: more would blunt the priorities, and half of it costs a tenth of the throughput.
 * 200 of the largest deliveries would be 5 GB, hence the bound in bytes.
 */
export const consumeOptions = { batchSize: 100, prefetch: 200, maxBytes: 64 * 1024 * 1024 };

const tellEmptyEveryMs = 30_000;

/** How long a removed connection may be unreachable before what is on it is given up. */
const unreachableMs = 60 * 60 * 1000;

/** When one run drains its queue: how long it waits for a connection, how often it looks, and what counts as idle. */
const connectTimeoutMs = 15_000;
const lookEveryMs = 50;
const idleMs = 200;

export type Connections = ReturnType<typeof createConnections>;

export function createConnections({ counts = { processed: 0, failed: 0 }, onEmpty = () => Promise.resolve(), ...parts }: ConnectionsParts) {
  const { queue, connect, handle, quietMs, clock, log } = parts;
  // By URL and not by name: when a number is given another URL, what waits at the old one must still be fetched.
  const consumed = new Map<string, Consumed>();
  const progress: { given: number; lastError?: unknown } = { given: 0 };
  let isClosed = false;

  function open(connection: Connection): void {
    if (isClosed) return;
    const broker = connect(connection);
    const consumer = { stop: () => Promise.resolve() };
    const one: Consumed = { connection, broker, consumer, busyUntilMs: clock(), isConfigured: true, reachableAtMs: clock(), emptyToldAtMs: -Infinity };
    one.consumer = consume(one);
    consumed.set(connection.url, one);
  }

  const consume = (one: Consumed): Consumer =>
    one.broker.consume(queue, consumeOptions, async (batch) => {
      one.busyUntilMs = Infinity;
      progress.given += batch.length;
      try {
        const outcomes = await handle(batch);
        for (const outcome of outcomes) {
          if (outcome === 'ack') counts.processed++;
          else if (outcome !== 'requeue') counts.failed++;
        }
        one.busyUntilMs = clock();
        return outcomes;
      } catch (error) {
        progress.lastError = error;
        one.busyUntilMs = clock() + redeliveryGraceMs;
        throw error;
      }
    });

  async function isEmpty(one: Consumed): Promise<boolean> {
    const depth = await one.broker.depth(queue).catch(() => undefined); // not connected: the depth is unknown
    if (depth !== 0) one.busyUntilMs = Math.max(one.busyUntilMs, clock());
    return depth === 0;
  }

  async function tellEmpty(one: Consumed): Promise<void> {
    one.emptyToldAtMs = clock();
    await onEmpty(one.connection);
  }

  /** True, and nothing is consumed any more, when the queue is empty and nothing came for so long; else it goes on. */
  async function isDrained(one: Consumed, quietForMs: number): Promise<boolean> {
    // The depth does not show deliveries in work or between two tries; stopping would wait for them, or restart their pauses.
    if (!one.broker.isConnected || !(await isEmpty(one)) || clock() < one.busyUntilMs + quietForMs) return false;
    // Deliveries that the consumer held without starting them go back to the queue, whose depth shows them.
    await one.consumer.stop();
    if (await isEmpty(one)) {
      await tellEmpty(one);
      return true;
    }
    one.consumer = consume(one);
    return false;
  }

  async function drop(one: Consumed): Promise<void> {
    consumed.delete(one.connection.url);
    // It was configured again while its queue was looked at.
    if (one.isConfigured) open(one.connection);
    await one.broker.close();
  }

  async function lookAt(one: Consumed): Promise<void> {
    if (one.broker.isConnected) one.reachableAtMs = clock();
    if (one.isConfigured) {
      const isDue = one.broker.isConnected && clock() >= one.emptyToldAtMs + tellEmptyEveryMs;
      return void (isDue && (await isEmpty(one)) && clock() >= one.busyUntilMs + quietMs && (await tellEmpty(one)));
    }
    const about = { queue, connection: one.connection.name };
    if (clock() - one.reachableAtMs >= unreachableMs) {
      log.warn({ ...about, error: one.broker.lastError }, 'removed broker connection stayed unreachable, giving up on its messages');
      await drop(one);
    } else if (await isDrained(one, quietMs)) {
      log.info(about, 'queue of the removed broker connection is empty, disconnecting');
      await drop(one);
    }
  }

  async function drainOne(one: Consumed, deadline: AbortSignal): Promise<void> {
    if (deadline.aborted) return;
    await Promise.race([one.broker.ready(connectTimeoutMs), once(deadline, 'abort')]);
    while (!deadline.aborted && !(await isDrained(one, idleMs))) await sleepUntil(deadline, lookEveryMs);
  }

  return {
    /** New connections are consumed from now on, missing ones until they are empty. */
    configure(connections: readonly Connection[]): void {
      const urls = new Set(connections.map(({ url }) => url));
      for (const one of consumed.values()) {
        const wasConfigured = one.isConfigured;
        one.isConfigured = urls.has(one.connection.url);
        if (wasConfigured && !one.isConfigured) {
          one.reachableAtMs = clock();
          log.warn({ queue, connection: one.connection.name }, 'broker connection removed, consuming it until its queue is empty or this process ends');
        }
      }
      for (const connection of connections) {
        const known = consumed.get(connection.url);
        // Its number may be another one by now.
        if (known) known.connection = connection;
        else {
          log.info({ queue, connection: connection.name }, 'consuming a broker connection');
          open(connection);
        }
      }
    },
    /** Looks which queues are empty, and lets go of removed connections that are, or that are given up; to be called every now and then. */
    async look(): Promise<void> {
      await Promise.all([...consumed.values()].map(lookAt));
    },
    /** Works until the queue is empty everywhere or the deadline passes. @throws when a connection cannot be reached; the others were worked through */
    async drain(deadline: AbortSignal): Promise<void> {
      const results = await Promise.allSettled([...consumed.values()].map((one) => drainOne(one, deadline)));
      const failures = results.filter((result) => result.status === 'rejected').map(({ reason }) => toError(reason));
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} of ${results.length} connections: ${failures[0]?.message}`);
    },
    /** @throws when deliveries were given to the handler and none of them was stored */
    assertProgress(): void {
      const { given, lastError } = progress;
      if (given === 0 || counts.processed > 0) return;
      const reason = lastError === undefined ? 'each was refused, see the log' : describeError(lastError);
      throw new Error(`stored none of the deliveries of queue ${queue}: ${reason}`, { cause: lastError });
    },
    /** Removed ones first: one of the others may bear a name of theirs by now, and what is said last of a name counts. */
    states: () =>
      [...consumed.values()]
        .map(({ connection: { name }, isConfigured, broker }) => ({ name, isConfigured, isConnected: broker.isConnected }))
        .sort((a, b) => Number(a.isConfigured) - Number(b.isConfigured)),
    async close(): Promise<void> {
      isClosed = true;
      await Promise.all([...consumed.values()].map(({ broker }) => broker.close()));
      consumed.clear();
    },
  };
}

type FollowOptions = { readonly brokers: BrokerSettings; readonly stopping: AbortSignal; readonly log: Log };

const followEveryMs = 1000;
/** The time left to what the database or a broker is asked beside the batches, once the process stops. */
export const lastMs = 1000;

/**
 * Keeps the connections in step with the settings until stopping. A file that turned faulty, or is missing or blank, changes nothing. It is
 * read at its events too: the relay may publish to a connection that is in the file for less than a second.
 */
export async function followConfigured(connections: Pick<Connections, 'configure' | 'look' | 'close'>, options: FollowOptions): Promise<void> {
  const { brokers, stopping, log } = options;
  const fileEvents = createWakeUp(stopping);
  brokers.watch(fileEvents.wake, stopping);
  async function readChanges(): Promise<void> {
    while (!stopping.aborted) {
      await fileEvents.pause(followEveryMs);
      if (stopping.aborted || !(await brokers.hasChanged())) continue;
      await brokers
        .read(true)
        .then(connections.configure, (error: unknown) => log.error({ error }, 'reading the broker connections failed, keeping the known ones'));
    }
  }
  // A broker or database that hangs must not hold up the end of the process.
  const look = () =>
    finishWithin(lastMs, stopping, connections.look()).catch((error: unknown) => log.warn({ error }, 'looking at the queues failed, trying again'));
  try {
    connections.configure(await brokers.read(false));
    // A broker that hangs holds up the closing of removed connections, and no look at the file.
    await Promise.all([readChanges(), every(followEveryMs, stopping, look)]);
  } finally {
    await connections.close();
  }
}
