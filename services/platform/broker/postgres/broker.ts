// The broker inside Postgres, for installations without RabbitMQ: pg-boss in a schema of its own.
import type { Log } from '../../log.ts';
import { withTimeout } from '../../time.ts';
import type { Broker, Topology } from '../broker.ts';
import { createConnectionState } from '../connection-state.ts';
import { queueRules } from '../retry-policy.ts';
import { createEmbeddedConsumer, type EmbeddedConsumer } from './consumer.ts';
import { returnDeadLetters } from './dead-letters.ts';
import { createEmbeddedPublisher } from './publisher.ts';
import { createEmbeddedConnection, type EmbeddedSession } from './session.ts';

export type EmbeddedBrokerOptions = { readonly log: Log; readonly name: string; readonly onConnected?: (() => void) | undefined };

const pendingTimeoutMs = 5000;
const plainIdentifier = /^[a-z_][a-z0-9_]*$/;

/** `?schema=` in the URL names the schema; `broker` without it. */
export function createEmbeddedBroker(url: string, topology: Topology, { log, name, onConnected }: EmbeddedBrokerOptions): Broker {
  const schema = new URL(url).searchParams.get('schema') ?? 'broker';
  if (!plainIdentifier.test(schema)) throw new TypeError(`schema in the broker's URL must be a plain lower-case name, got "${schema}"`);

  const state = createConnectionState(onConnected);
  const consumers = new Set<EmbeddedConsumer>();
  const publisher = createEmbeddedPublisher(topology);
  let session: EmbeddedSession | null = null;

  const connection = createEmbeddedConnection({
    url,
    schema,
    name,
    topology,
    log,
    onConnected(opened) {
      session = opened;
      publisher.open(opened);
      for (const consumer of consumers) consumer.attach(opened);
      state.connected();
    },
    onDisconnected(reason) {
      session = null;
      publisher.lose(reason);
      state.disconnected(reason);
    },
  });

  function connected(purpose: string): EmbeddedSession {
    if (!session) throw new Error(`cannot ${purpose}: not connected`, { cause: state.lastError });
    return session;
  }

  return {
    get isConnected() {
      return state.isConnected;
    },
    get lastError() {
      return state.lastError;
    },
    ready: state.ready,
    publish: (message, timeoutMs) => publisher.publish(message, timeoutMs),
    consume(queue, options, handle) {
      const consumer = createEmbeddedConsumer({ queue, options, handle, topology, log });
      consumers.add(consumer);
      if (session) consumer.attach(session);
      return { stop: () => (consumers.delete(consumer), consumer.stop()) };
    },
    async depth(queue) {
      queueRules(topology, queue);
      const { database } = connected(`ask for the depth of "${queue}"`);
      // pg-boss counts for itself every few seconds only. The condition is that of its own claim.
      const sql = `select count(*)::int as depth from ${schema}.job
        where name = $1 and state < 'active' and not blocked and start_after <= now()`;
      const { rows }: { rows: { depth: number }[] } = await database.executeSql(sql, [queue]);
      return rows[0]?.depth ?? 0;
    },
    async returnDeadLetters({ queue, limit }) {
      const result = await returnDeadLetters({ session: connected('return dead letters'), schema, topology, queue, limit });
      log.info({ queue, ...result }, 'dead letters returned to their queues');
      return result;
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await withTimeout(publisher.idle(), pendingTimeoutMs, () => undefined);
      publisher.lose('the broker connection is closing');
      await connection.close();
      session = null;
      state.closed();
    },
  };
}
