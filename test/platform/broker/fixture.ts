// Shared by the broker suites: topologies of one test's own, collected deliveries, a consumer in a process of its own.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Broker, Consumer, Delivery, Message, Topology, Outcome } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { spawnGuarded } from '../../support/guard.ts';
import { eventually } from '../../support/wait.ts';

/** The result of both `startPostgres` and `startRabbitmq`. */
export type BrokerServer = {
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
};

/** Two queues that no other test knows: `first` by priority, `second` in order. */
export function newTopology(retryDelaysMs: readonly number[] = [100]) {
  const id = randomUUID().slice(0, 8);
  const first = { name: `first-${id}`, prioritised: true, retryDelaysMs };
  const second = { name: `second-${id}`, prioritised: false, retryDelaysMs };
  const topology: Topology = { exchange: `all-${id}`, queues: [first, second], deadLetters: { exchange: `dead-all-${id}`, queue: `dead-${id}` } };
  return { topology, first: first.name, second: second.name, dead: topology.deadLetters.queue };
}

export const connect = (url: string, topology: Topology): Broker => connectBroker(url, topology, { log: silentLog, name: 'broker test' });

export function message(id: string, more: Partial<Message> = {}): Message {
  const body = Buffer.from(`{"id":"${id}"}`);
  return { id, type: 'push', body, contentType: 'application/json', priority: 0, timestamp: new Date(), headers: {}, ...more };
}

export const generousMs = 60_000;

/** Publishes and insists on the confirmation. */
export async function publish(broker: Broker, ...messages: readonly Message[]): Promise<void> {
  for (const one of messages) {
    const result = await broker.publish(one, generousMs);
    if (result.outcome !== 'confirmed') throw new Error(`${one.id} was ${result.outcome}: ${result.reason}`);
  }
}

export type Seen = { readonly deliveries: Delivery[]; readonly times: number[]; readonly consumer: Consumer };

export function collect(broker: Broker, queue: string, decide: (delivery: Delivery) => Outcome = () => 'ack'): Seen {
  const deliveries: Delivery[] = [];
  const times: number[] = [];
  const consumer = broker.consume(queue, { batchSize: 100, prefetch: 100 }, (batch) => {
    deliveries.push(...batch);
    times.push(...batch.map(() => performance.now()));
    return Promise.resolve(batch.map(decide));
  });
  return { deliveries, times, consumer };
}

export const ids = (deliveries: readonly Delivery[]) => deliveries.map((delivery) => delivery.id);

/** Waits for what the sentence says, and fails with it. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const check = async () => {
    if (!(await condition())) throw new Error(`waited in vain: ${what}`);
  };
  await eventually(check, { withinMs: generousMs });
}

/** A process of its own: with a queue it takes a batch, tells the ids and never finishes, or is ended by poison; without one it does a round and ends. */
export function consumerProcess(url: string, topology: Topology, queue = '', mode: '' | 'ended by poison' | 'returns dead letters' = '') {
  const child = spawnGuarded(process.execPath, [join(import.meta.dirname, 'consumer-process.ts'), url, JSON.stringify(topology), queue, mode], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const taken: string[] = [];
  if (child.stdout) createInterface({ input: child.stdout }).on('line', (id) => taken.push(id));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return { taken, exited, hasEnded: () => child.exitCode !== null || child.signalCode !== null, kill: () => child.kill('SIGKILL') };
}
