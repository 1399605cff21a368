// The broker inside Postgres, for installations without RabbitMQ: pg-boss in a schema of its own.
import type { Db } from 'pg-boss';
import { withTimeout } from '../../time.ts';
import type { Broker, BrokerOptions, DeadLetter, DeadLetterReturn, DeadLetterSelection, QueueTopology, Topology } from '../broker.ts';
import { closedReason, createConnectionState } from '../connection-state.ts';
import { queueRules, returnPolicy, withoutDeath } from '../retry-policy.ts';
import { createEmbeddedConsumer, type EmbeddedConsumer } from './consumer.ts';
import { type StoredMessage, toDelivery, toJob, toStored } from './message.ts';
import { createEmbeddedPublisher } from './publisher.ts';
import { createEmbeddedConnection, type EmbeddedSession } from './session.ts';

const pendingTimeoutMs = 5000;
const plainIdentifier = /^[a-z_][a-z0-9_]*$/;

/** `?schema=` in the URL names the schema; `broker` without it. */
export function createEmbeddedBroker(url: string, topology: Topology, { log, name, onConnected }: BrokerOptions): Broker {
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
    publish: async (message, timeoutMs) => state.refusal ?? publisher.publish(message, timeoutMs),
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
    listDeadLetters: (selection) => listDeadLetters({ session: connected('list dead letters'), schema, topology }, selection),
    async returnDeadLetters(selection) {
      const result = await returnDeadLetters({ session: connected('return dead letters'), schema, topology }, selection);
      log.info({ queue: selection.queue, ...result }, 'dead letters returned to their queues');
      return result;
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      state.closed();
      await withTimeout(publisher.idle(), pendingTimeoutMs, () => undefined);
      publisher.lose(closedReason);
      await connection.close();
      session = null;
    },
  };
}

type DeadLetterParts = { readonly session: EmbeddedSession; readonly schema: string; readonly topology: Topology };

/** Oldest first. The bodies may be large, and stay where they are. */
async function pageOfDeadLetters({ session, schema, topology }: DeadLetterParts, offset: number): Promise<(DeadLetter & { readonly jobId: string })[]> {
  const oldest = `select id, data - 'body' as data from ${schema}.job where name = $1 and state < 'active' order by created_on, id offset $2 limit 1000`;
  const { rows }: { rows: { id: string; data: Omit<StoredMessage, 'body'> }[] } = await session.database.executeSql(oldest, [
    topology.deadLetters.queue,
    offset,
  ]);
  return rows.map(({ id: jobId, data }) => {
    const { id, type, headers } = toDelivery({ data: { ...data, body: '' }, retryCount: 0 });
    return { jobId, id, type, headers };
  });
}

async function listDeadLetters(parts: DeadLetterParts, { queue, limit }: DeadLetterSelection): Promise<DeadLetter[]> {
  const targetOf = returnPolicy(parts.topology, queue);
  const found: DeadLetter[] = [];
  for (let offset = 0; found.length < limit;) {
    const page = await pageOfDeadLetters(parts, offset);
    if (page.length === 0) break;
    offset += page.length;
    for (const { id, type, headers } of page) if (queue === undefined || targetOf({ headers })) found.push({ id, type, headers });
  }
  return found.slice(0, limit);
}

/** Each in a transaction of its own. */
async function returnDeadLetters(parts: DeadLetterParts, { queue, limit }: DeadLetterSelection): Promise<DeadLetterReturn> {
  const { session, schema, topology } = parts;
  const { boss, database } = session;
  const targetOf = returnPolicy(topology, queue);
  const deadQueue = topology.deadLetters.queue;

  /** False when somebody else has taken it. */
  async function move(id: string, target: QueueTopology, db: Db): Promise<boolean> {
    const locked = `select data from ${schema}.job where name = $1 and id = $2 and state < 'active' for update skip locked`;
    const { rows }: { rows: { data: StoredMessage }[] } = await db.executeSql(locked, [deadQueue, id]);
    const data = rows[0]?.data;
    if (!data) return false;
    await boss.deleteJob(deadQueue, id, { db });
    await boss.insert(target.name, [toJob(toStored(withoutDeath(toDelivery({ data, retryCount: 0 })), 1), target)], { db });
    return true;
  }

  let returned = 0;
  let kept = 0;
  let taken = 0;
  // What dies again meanwhile joins the end of the queue, and is not looked at twice.
  const count = `select count(*)::int as count from ${schema}.job where name = $1 and state < 'active'`;
  const { rows }: { rows: { count: number }[] } = await database.executeSql(count, [deadQueue]);
  const isDone = () => returned === limit || returned + kept + taken >= (rows[0]?.count ?? 0);
  while (!isDone()) {
    const page = await pageOfDeadLetters(parts, kept + taken);
    if (page.length === 0) break;
    for (const { jobId, headers } of page) {
      if (isDone()) break;
      const target = targetOf({ headers });
      if (target === undefined) kept += 1;
      else if (await database.transaction((db) => move(jobId, target, db))) returned += 1;
      else taken += 1;
    }
  }
  return { returned, kept };
}
