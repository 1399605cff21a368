// How much waits on the brokers, for Prometheus: the relay is connected to all of them, whether a worker runs or not.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from '../platform/metrics.ts';
import type { Connection } from './connections/connection.ts';
import { forgeTopology } from './contract.ts';

const queues = [...forgeTopology.queues.map(({ name }) => name), forgeTopology.deadLetters.queue];
/** A server that hangs must not hold up the rest of the scrape. */
const answerMs = 1000;

type Asked = Pick<Connection, 'isConnected' | 'depth'> & { readonly target: { readonly name: string } };

/** @param connections those of `all` may change from scrape to scrape */
export function measureQueues(metrics: Metrics, connections: { readonly all: readonly Asked[] }): void {
  metrics.gauge({
    name: 'signalbox_broker_queue_messages',
    help: 'Messages that wait in a queue of the connection: neither those in delayed retry nor those that a worker holds; forge.dead holds those given up.',
    labels: ['broker', 'queue'],
    async collect(gauge) {
      const asked = connections.all.flatMap((connection) =>
        queues.map((queue) => ({ broker: connection.target.name, queue, depth: depthOf(connection, queue) })),
      );
      for (const { broker, queue, depth } of asked) {
        const messages = await depth;
        if (messages !== undefined) gauge.set({ broker, queue }, messages);
      }
    },
  });
}

/** Undefined when nobody knows. */
async function depthOf(connection: Asked, queue: string): Promise<number | undefined> {
  if (!connection.isConnected) return undefined;
  return Promise.race([connection.depth(queue).catch(() => undefined), sleep(answerMs, undefined, { ref: false })]);
}
