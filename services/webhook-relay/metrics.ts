// Gauges of brokers, queues, database and spool, and the counters of deliveries and spool; publications, replays, senders and rejected deliveries
// are counted beside their code.
import { forScrape, type Metrics } from '../platform/metrics.ts';
import type { Connection } from './connections/connection.ts';
import type { Connections } from './connections/connections.ts';
import { type BrokerUsage, queueNames } from './contract.ts';
import type { DatabaseState } from './database.ts';
import type { Usage } from './usage/usage.ts';

export type DeliveryCounter = ReturnType<typeof createDeliveryCounter>;

/** published · unsigned: 401 · exhausted: 503 · spooled and lost: 400, kept on disk or not. */
export function createDeliveryCounter(metrics: Metrics) {
  return metrics.counter({
    name: 'signalbox_relay_deliveries_total',
    help: 'Deliveries received, by what became of them.',
    labels: ['outcome'],
    series: ['published', 'unsigned', 'exhausted', 'spooled', 'lost'].map((outcome) => ({ outcome })),
  });
}

type UsageSources = { readonly connections: Connections; readonly usage: Usage; readonly database: DatabaseState };

/** Use of the limits, and the state of the connections and of the database, which is asked at every scrape, at most once a second. */
export function measureConnections(metrics: Metrics, { connections, usage, database }: UsageSources): void {
  const ofUsage = (name: string, help: string, value: (used: BrokerUsage) => number) =>
    metrics.gauge({
      name,
      help,
      labels: ['broker', 'period'],
      async collect(gauge) {
        const { period, brokers } = await usage.recent();
        for (const used of brokers) gauge.set({ broker: used.broker, period }, value(used));
      },
    });
  ofUsage('signalbox_broker_messages_used', 'Messages reserved on the connection in the current month.', ({ messageCount }) => messageCount);
  ofUsage('signalbox_broker_messages_limit', 'Messages that the connection may publish in the current month.', ({ monthlyLimit }) => monthlyLimit);
  ofUsage('signalbox_broker_messages_remaining', 'Messages that the connection may still publish in the current month.', ({ remaining }) => remaining);
  metrics.gauge({
    name: 'signalbox_broker_active',
    help: '1 for the active connection.',
    labels: ['broker'],
    async collect(gauge) {
      const { active } = await usage.recent();
      for (const { target } of connections.all) gauge.set({ broker: target.name }, target.name === active ? 1 : 0);
    },
  });
  metrics.gauge({
    name: 'signalbox_broker_connected',
    help: '1 while the connection stands and takes messages.',
    labels: ['broker'],
    collect(gauge) {
      for (const { target, isUsable } of connections.all) gauge.set({ broker: target.name }, isUsable ? 1 : 0);
    },
  });
  metrics.gauge({
    name: 'signalbox_relay_database_up',
    help: '1 while the database of the relay answers; at 0 nothing can be counted, so deliveries are spooled.',
    labels: [],
    async collect(gauge) {
      await usage.recent(); // without deliveries nothing else would find out
      gauge.set(database.isUp ? 1 : 0);
    },
  });
}

/**
 * The relay is connected to every broker, whether a worker runs or not.
 * @param connections those of `all` may change from scrape to scrape
 */
export function measureQueues(metrics: Metrics, connections: Pick<Connections, 'all'>, nowMs = () => performance.now()): void {
  const findDepths = createDepths(connections, nowMs);
  metrics.gauge({
    name: 'signalbox_broker_queue_messages',
    help: 'Messages that wait in a queue of the connection: neither those in delayed retry nor those that a worker holds; forge.dead holds those given up.',
    labels: ['broker', 'queue'],
    async collect(gauge) {
      for (const { broker, queue, messages } of (await findDepths()) ?? []) gauge.set({ broker, queue }, messages);
    },
  });
  metrics.gauge({
    name: 'signalbox_broker_queue_oldest_message_seconds',
    help: 'Time since a scrape of this relay last found the queue empty, at most since its first scrape: no message there has waited longer meanwhile. 0 when it is empty.',
    labels: ['broker', 'queue'],
    async collect(gauge) {
      for (const { broker, queue, ageSeconds } of (await findDepths()) ?? []) gauge.set({ broker, queue }, ageSeconds);
    },
  });
}

/** The depths that brokers tell now. Gauges that are collected at the same time share one question. */
function createDepths(connections: Pick<Connections, 'all'>, nowMs: () => number) {
  /** When a queue was last found empty, by broker and queue; when it was looked at first, until then. */
  const emptyAtMs = new Map<string, number>();

  async function look({ target, depth }: Connection, queue: string) {
    const messages = await depth(queue);
    if (messages === undefined) return [];
    const key = `${target.name} ${queue}`;
    const now = nowMs();
    const since = messages === 0 ? now : (emptyAtMs.get(key) ?? now);
    emptyAtMs.set(key, since);
    return [{ broker: target.name, queue, messages, ageSeconds: (now - since) / 1000 }];
  }

  const lookAtAll = async () => (await Promise.all(connections.all.flatMap((connection) => queueNames.map((queue) => look(connection, queue))))).flat();

  return forScrape(lookAtAll);
}

type SpoolLists = {
  /** The files not yet replayed or refused, oldest first. */
  readonly outstanding: () => Promise<readonly { readonly spooledAt: Date }[]>;
  /** How many lie in the folder `refused`. */
  readonly refused: () => Promise<number>;
};
export function measureSpool(metrics: Metrics, lists: SpoolLists, clock: () => Date) {
  // A directory that cannot be read must not take the other metrics with it: nothing is said of it.
  const outstanding = () => lists.outstanding().catch(() => undefined);
  metrics.gauge({
    name: 'signalbox_spool_files',
    help: 'Deliveries in the spool directory that wait for their replay',
    labels: [],
    collect: async (gauge) => {
      const files = await outstanding();
      if (files) gauge.set(files.length);
    },
  });
  metrics.gauge({
    name: 'signalbox_spool_oldest_age_seconds',
    help: 'Age of the oldest delivery in the spool directory, 0 when there is none',
    labels: [],
    collect: async (gauge) => {
      const files = await outstanding();
      const now = clock().getTime();
      if (files) gauge.set(Math.max(0, now - (files[0]?.spooledAt.getTime() ?? now)) / 1000);
    },
  });
  metrics.gauge({
    name: 'signalbox_spool_refused_files',
    help: 'Deliveries that were given up and lie in the folder refused, for a person to look at',
    labels: [],
    collect: async (gauge) => {
      const files = await lists.refused().catch(() => undefined);
      if (files !== undefined) gauge.set(files);
    },
  });
  const writes = metrics.counter({
    name: 'signalbox_spool_writes_total',
    help: 'Deliveries to be spooled: written, or failed and so not kept anywhere',
    labels: ['outcome'],
    series: [{ outcome: 'written' }, { outcome: 'failed' }],
  });
  const refused = metrics.counter({
    name: 'signalbox_spool_refused_total',
    help: 'Spool files moved aside: corrupt, or refused by every connection again and again',
    labels: [],
  });
  return {
    written: () => writes.inc({ outcome: 'written' }),
    failed: () => writes.inc({ outcome: 'failed' }),
    refused: () => refused.inc(),
  };
}
