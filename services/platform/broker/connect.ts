// Makes a broker of the adapter that the URL's scheme names: what both brokers do in the same way.
import { withTimeout } from '../time.ts';
import type { Adapter, AdapterParts } from './adapter.ts';
import { createAmqpAdapter } from './amqp/adapter.ts';
import type { QueueType } from './amqp/topology.ts';
import type { Broker, BrokerOptions, Consumer, PublishResult, QueueState, Topology } from './broker.ts';
import { createDeadLetterActions } from './dead-letter-actions.ts';
import { createHandOver, createTurns, queueOf, redeliveredQueue } from './outcomes.ts';
import { createEmbeddedAdapter } from './postgres/adapter.ts';

/** `queueType` is of RabbitMQ only; classic unless given. Quorum needs RabbitMQ 4.3 for priorities. */
type ConnectOptions = BrokerOptions & { readonly queueType?: QueueType };

const pendingTimeoutMs = 5000;

/** Returns at once and connects in the background, again and again until closed. */
export function connectBroker(url: string, topology: Topology, options: ConnectOptions): Broker {
  const { log, onConnected } = options;
  const state = createConnectionState(onConnected);
  const adapter = createAdapter(url, { ...options, topology, state });
  const consumers = new Set<Consumer>();
  const publishing = new Set<Promise<unknown>>();

  /** @throws TypeError when the topology has no such queue */
  const redeliveredOf = (queue: string) => (queue === topology.deadLetters.queue ? [] : [redeliveredQueue(queueOf(topology, queue).name)]);

  return {
    get isConnected() {
      return state.isConnected;
    },
    get lastError() {
      return state.lastError;
    },
    ready: state.ready,
    publish(message, timeoutMs) {
      const result = adapter.publish(message, timeoutMs);
      publishing.add(result);
      void result.then(() => publishing.delete(result));
      return result;
    },
    consume(queue, consumeOptions, handle) {
      const { holdNext, inTurn } = createTurns(handle);
      const parts = { queue, topology, log, handle: inTurn, giveUp: consumeOptions.giveUp };
      const start = (from: string, isAlone: boolean) =>
        adapter.consume({ queue, from }, isAlone ? { batchSize: 1, prefetch: 1 } : consumeOptions, {
          handOver: createHandOver({ ...parts, isAlone }),
          holdNext,
        });
      const started = [start(queue, false), ...redeliveredOf(queue).map((from) => start(from, true))];
      const consumer = { stop: async () => void (await Promise.all(started.map((one) => one.stop()))) };
      consumers.add(consumer);
      return { stop: () => consumer.stop().finally(() => consumers.delete(consumer)) };
    },
    async depth(queue) {
      const depths = await Promise.all([queue, ...redeliveredOf(queue)].map(adapter.depth));
      return depths.reduce((sum, depth) => sum + depth, 0);
    },
    async stateOf(queue) {
      const [own, ...others] = await Promise.all([adapter.stateOf(queue), ...redeliveredOf(queue).map(adapter.stateOf)]);
      // Each consumer is attached to both; those of the queue itself are counted.
      return others.reduce((sum, one) => ({ ...sum, waiting: sum.waiting + one.waiting, ...heldOf(sum, one) }), own);
    },
    ...createDeadLetterActions(adapter, topology, log),
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      state.closed();
      await withTimeout<unknown>(Promise.all(publishing), pendingTimeoutMs, () => undefined);
      await adapter.close();
    },
  };
}

function heldOf(a: QueueState, b: QueueState): Pick<QueueState, 'inWork' | 'oldestAt'> {
  const times = [a.oldestAt, b.oldestAt].filter((time) => time !== null).sort((one, other) => one.getTime() - other.getTime());
  return { inWork: a.inWork === null || b.inWork === null ? null : a.inWork + b.inWork, oldestAt: times[0] ?? null };
}

function createAdapter(url: string, parts: AdapterParts & { readonly queueType?: QueueType }): Adapter {
  // The URL holds a password, so no message may repeat it.
  const scheme = URL.parse(url)?.protocol ?? 'something that is not a URL';
  if (scheme === 'amqp:' || scheme === 'amqps:') return createAmqpAdapter(url, parts);
  if (scheme === 'postgres:' || scheme === 'postgresql:') return createEmbeddedAdapter(url, parts);
  throw new TypeError(`url must begin with amqp:, amqps:, postgres: or postgresql:, got ${scheme}`);
}

/** @param onConnected called whenever it is connected */
function createConnectionState(onConnected: () => void = () => undefined) {
  let isConnected = false;
  let lastError: string | null = null;
  let isClosed = false;
  let waiting = newWaiting();

  function disconnected(reason: string): void {
    if (isConnected) waiting = newWaiting();
    isConnected = false;
    lastError = reason;
  }

  return {
    get isConnected() {
      return isConnected;
    },
    get lastError() {
      return lastError;
    },
    get refusal(): PublishResult | null {
      return isConnected ? null : { outcome: 'unpublished', reason: lastError ?? 'not connected yet' };
    },
    connected(): void {
      if (isClosed) return;
      isConnected = true;
      waiting.resolve();
      onConnected();
    },
    disconnected,
    /** For good. */
    closed(): void {
      isClosed = true;
      const reason = 'the broker connection was closed';
      disconnected(reason);
      waiting.reject(new Error(reason));
    },
    ready: (timeoutMs: number): Promise<void> =>
      withTimeout(waiting.promise, timeoutMs, () => {
        throw new Error(`the broker is not connected after ${timeoutMs} ms${lastError === null ? '' : `: ${lastError}`}`);
      }),
  };
}

function newWaiting() {
  const waiting = Promise.withResolvers<void>();
  waiting.promise.catch(() => undefined); // there may be no caller that waits
  return waiting;
}
