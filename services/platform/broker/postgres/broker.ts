// The broker inside Postgres, for installations without RabbitMQ: pg-boss in a schema of its own.
import type { Log } from '../../log.ts';
import type { Broker, Topology } from '../broker.ts';
import { createConnectionState } from '../connection-state.ts';
import { createEmbeddedConsumer, type EmbeddedConsumer } from './consumer.ts';
import { createEmbeddedLink } from './connection.ts';
import { returnDeadLetters } from './dead-letters.ts';
import { createEmbeddedPublisher } from './publisher.ts';
import type { EmbeddedSession } from './session.ts';
import { createEmbeddedSettlement } from './settlement.ts';
import { queueRules } from '../retry-policy.ts';

export type EmbeddedBrokerOptions = { readonly log: Log; readonly name: string; readonly up?: (() => void) | undefined };

const plainIdentifier = /^[a-z_][a-z0-9_]*$/;

/** `?schema=` in the URL names the schema; `broker` without it. */
export function createEmbeddedBroker(url: string, topology: Topology, { log, name, up }: EmbeddedBrokerOptions): Broker {
  const schema = new URL(url).searchParams.get('schema') ?? 'broker';
  if (!plainIdentifier.test(schema)) throw new TypeError(`schema in the broker's URL must be a plain lower-case name, got "${schema}"`);

  const state = createConnectionState(up);
  const consumers = new Set<EmbeddedConsumer>();
  const publisher = createEmbeddedPublisher(topology);
  let session: EmbeddedSession | null = null;

  const link = createEmbeddedLink({
    url,
    schema,
    name,
    topology,
    log,
    up(opened) {
      session = opened;
      publisher.open(opened);
      for (const consumer of consumers) consumer.attach(opened);
      state.up();
    },
    down(reason) {
      session = null;
      publisher.lose(reason);
      state.down(reason);
    },
  });

  return {
    get isConnected() {
      return state.isConnected;
    },
    get lastError() {
      return state.lastError;
    },
    ready: (timeoutMs) => state.ready(timeoutMs),
    publish: (message, timeoutMs) => publisher.publish(message, timeoutMs),
    consume(queue, options, handle) {
      const settle = createEmbeddedSettlement(topology, queue, log);
      const consumer = createEmbeddedConsumer({ queue, options, handle, settle, log });
      consumers.add(consumer);
      if (session) consumer.attach(session);
      return { stop: () => (consumers.delete(consumer), consumer.stop()) };
    },
    async depth(queue) {
      queueRules(topology, queue);
      if (!session) throw new Error(`cannot ask for the depth of "${queue}": not connected`, { cause: state.lastError });
      // pg-boss counts for itself every few seconds only. The condition is that of its own claim.
      const sql = `select count(*)::int as depth from ${schema}.job
        where name = $1 and state < 'active' and not blocked and start_after <= now()`;
      const { rows }: { rows: { depth: number }[] } = await session.database.executeSql(sql, [queue]);
      return rows[0]?.depth ?? 0;
    },
    async returnDeadLetters({ queue, limit }) {
      if (!session) throw new Error('cannot return dead letters: not connected', { cause: state.lastError });
      const result = await returnDeadLetters({ session, schema, topology, queue, limit });
      log.info({ queue, ...result }, 'dead letters returned to their queues');
      return result;
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await publisher.settled();
      publisher.lose('the broker connection is closing');
      await link.close();
      session = null;
      state.down();
    },
  };
}
