// The broker inside Postgres, for installations without RabbitMQ: pg-boss in a schema of its own.
import type { Adapter, AdapterParts, WaitingDeadLetter } from '../adapter.ts';
import type { Db } from 'pg-boss';
import { NIL } from 'uuid';
import type { Delivery, QueueState, QueueTopology } from '../broker.ts';
import { withoutDeath } from '../outcomes.ts';
import { createEmbeddedConsumer, type EmbeddedConsumer } from './consumer.ts';
import { type StoredMessage, toDelivery, toJob, toStored } from './message.ts';
import { createEmbeddedPublisher } from './publisher.ts';
import { countConsumers, createEmbeddedConnection, type EmbeddedSession } from './session.ts';

const plainIdentifier = /^[a-z_][a-z0-9_]*$/;

/** `?schema=` in the URL names the schema; `broker` without it. */
export function createEmbeddedAdapter(url: string, { topology, log, name, state }: AdapterParts): Adapter {
  const schema = new URL(url).searchParams.get('schema') ?? 'broker';
  if (!plainIdentifier.test(schema)) throw new TypeError(`schema in the broker's URL must be a plain lower-case name, got "${schema}"`);

  const table = `${schema}.job`;
  const consumers = new Set<EmbeddedConsumer>();
  let session: EmbeddedSession | null = null;

  const connection = createEmbeddedConnection({
    url,
    schema,
    name,
    topology,
    log,
    onConnected(opened) {
      session = opened;
      for (const consumer of consumers) consumer.attach(opened);
      state.connected();
    },
    onDisconnected(reason) {
      session = null;
      state.disconnected(reason);
    },
  });

  function connected(): EmbeddedSession {
    if (!session) throw new Error('not connected', { cause: state.lastError });
    return session;
  }
  const publish = createEmbeddedPublisher(topology, connected);

  return {
    publish: async (message, timeoutMs) => state.refusal ?? publish(message, timeoutMs),
    consume(source, options, { handOver }) {
      const consumer = createEmbeddedConsumer({ source, table, options, handOver, topology, log });
      consumers.add(consumer);
      if (session) consumer.attach(session);
      return { stop: () => (consumers.delete(consumer), consumer.stop()) };
    },
    async depth(queue) {
      // pg-boss counts for itself every few seconds only. The condition is that of its own claim.
      const sql = `select count(*)::int as depth from ${table}
        where name = $1 and state < 'active' and not blocked and start_after <= now()`;
      const { rows }: { rows: { depth: number }[] } = await connected().database.executeSql(sql, [queue]);
      return rows[0]?.depth ?? 0;
    },
    async stateOf(queue) {
      const waits = `state < 'active' and not blocked and start_after <= now()`;
      const sql = `select count(*) filter (where ${waits})::int as waiting, count(*) filter (where state = 'active')::int as "inWork",
          min(created_on) filter (where ${waits}) as "oldestAt", (${countConsumers}) as consumers
        from ${table} where name = $2 and state <= 'active'`;
      const { rows }: { rows: QueueState[] } = await connected().database.executeSql(sql, [`${schema}.${queue}`, queue]);
      return rows[0] ?? { waiting: 0, inWork: 0, consumers: 0, oldestAt: null };
    },
    deadLetters: () => deadLettersOf(connected(), table, topology.deadLetters.queue),
    close: connection.close,
  };
}

type DeadJob = { readonly jobId: string; readonly createdOn: string; readonly data: Omit<StoredMessage, 'body'> };

/** The bodies may be large, and stay where they are. */
async function* deadLettersOf({ boss, database }: EmbeddedSession, table: string, queue: string): AsyncGenerator<WaitingDeadLetter> {
  // Times as text: a Date has no microseconds.
  const page = `select id as "jobId", created_on::text as "createdOn", data - 'body' as data from ${table}
    where name = $1 and state < 'active' and created_on <= $2 and (created_on, id) > ($3, $4) order by created_on, id limit 1000`;
  const { rows: begun }: { rows: { now: string }[] } = await database.executeSql('select now()::text as now');
  const sendTo = (target: QueueTopology, data: StoredMessage, db: Db) =>
    boss.insert(target.name, [toJob(toStored(withoutDeath(toDelivery({ data, retryCount: 0 })), 1), target)], { db });
  let last: Pick<DeadJob, 'createdOn' | 'jobId'> = { createdOn: '-infinity', jobId: NIL };
  for (;;) {
    const { rows }: { rows: DeadJob[] } = await database.executeSql(page, [queue, begun[0]?.now, last.createdOn, last.jobId]);
    for (const { jobId, data } of rows)
      yield {
        ...toDelivery({ data: { ...data, body: '' }, retryCount: 0 }),
        read: () => read(jobId),
        drop: () => take(jobId, () => Promise.resolve()),
        returnTo: async (target) => ((await take(jobId, (data, db) => sendTo(target, data, db))) ? 'returned' : 'gone'),
      };
    const next = rows.at(-1);
    if (!next) return;
    last = next;
  }

  async function read(jobId: string): Promise<Delivery | undefined> {
    const one = `select data from ${table} where name = $1 and id = $2 and state < 'active'`;
    const { rows }: { rows: { data: StoredMessage }[] } = await database.executeSql(one, [queue, jobId]);
    return rows[0] && toDelivery({ data: rows[0].data, retryCount: 0 });
  }

  /** Runs in a transaction of its own. False when another client has taken the job. */
  function take(jobId: string, work: (data: StoredMessage, db: Db) => Promise<unknown>): Promise<boolean> {
    return database.transaction(async (db) => {
      const locked = `select data from ${table} where name = $1 and id = $2 and state < 'active' for update skip locked`;
      const { rows }: { rows: { data: StoredMessage }[] } = await db.executeSql(locked, [queue, jobId]);
      const data = rows[0]?.data;
      if (!data) return false;
      await boss.deleteJob(queue, jobId, { db });
      await work(data, db);
      return true;
    });
  }
}
