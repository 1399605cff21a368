// What the broker suites share: servers that can be stopped and killed, topologies of one test's own, collected deliveries.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgresServer } from '../../../services/laptop/postgres-server.ts';
import type { Broker, ConsumeOptions, Consumer, Delivery, Message, Topology, Verdict } from '../../../services/platform/broker/broker.ts';
import { connectBroker } from '../../../services/platform/broker/connect.ts';
import { silentLog } from '../../../services/platform/log.ts';
import { startRabbitmq } from '../../support/rabbitmq.ts';

export type BrokerServer = {
  readonly url: string;
  /** In good order. */
  stop(): Promise<void>;
  /** At once, as a power cut does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** For good, with its data. */
  close(): Promise<void>;
};

export const rabbitmq = (): Promise<BrokerServer> => startRabbitmq();

export async function postgres(): Promise<BrokerServer> {
  const directory = await mkdtemp(join(tmpdir(), 'signalbox-broker-'));
  const options = { directory, password: randomUUID() };
  const first = await startPostgresServer(options);
  let running: { close(): Promise<void> } | null = first;
  const stop = async () => {
    await running?.close();
    running = null;
  };
  return {
    url: first.url,
    stop,
    async kill() {
      const pid = Number((await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n')[0]);
      process.kill(pid, 'SIGQUIT');
      await until(() => !isAlive(pid), 'Postgres ends');
      running = null;
    },
    async start() {
      running = await startPostgresServer({ ...options, settings: { port: String(first.port) } });
    },
    async close() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

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

export const generousMs = 30_000;

/** Publishes and insists on the confirmation. */
export async function publish(broker: Broker, ...messages: readonly Message[]): Promise<void> {
  for (const one of messages) {
    const result = await broker.publish(one, generousMs);
    if (result.outcome !== 'confirmed') throw new Error(`${one.id} was ${result.outcome}: ${result.reason}`);
  }
}

export type Seen = { readonly deliveries: Delivery[]; readonly times: number[]; readonly consumer: Consumer };

export function collect(broker: Broker, queue: string, decide: (delivery: Delivery) => Verdict = () => 'done', options: ConsumeOptions = { batchSize: 100, prefetch: 100 }): Seen {
  const deliveries: Delivery[] = [];
  const times: number[] = [];
  const consumer = broker.consume(queue, options, (batch) => {
    deliveries.push(...batch);
    times.push(...batch.map(() => performance.now()));
    return Promise.resolve(batch.map(decide));
  });
  return { deliveries, times, consumer };
}

export const ids = (deliveries: readonly Delivery[]) => deliveries.map((delivery) => delivery.id);

export async function until(condition: () => boolean | Promise<boolean>, what: string, deadlineMs = generousMs): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await pause(20);
  }
}

/** A process of its own that consumes, holds what it gets, and tells the ids. */
export function consumerProcess(url: string, topology: Topology, queue: string): { readonly child: ChildProcess; readonly taken: string[] } {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'consumer-process.ts'), url, JSON.stringify(topology), queue], { stdio: ['ignore', 'pipe', 'inherit'] });
  const taken: string[] = [];
  createInterface(child.stdout).on('line', (id) => taken.push(id));
  return { child, taken };
}

export async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}
