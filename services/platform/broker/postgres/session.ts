// pg-boss on one set of connections, from connecting until they are lost; then everything of it is void.
import { PgBoss } from 'pg-boss';
import type { Log } from '../../log.ts';
import type { Topology } from '../broker.ts';
import { describeError } from '../../errors.ts';
import { createEmbeddedDatabase, type EmbeddedDatabase } from './database.ts';

export type SessionParts = {
  readonly url: string;
  readonly schema: string;
  readonly name: string;
  readonly topology: Topology;
  readonly log: Log;
};

export type EmbeddedSession = {
  readonly boss: PgBoss;
  readonly database: EmbeddedDatabase;
  /** Its reason is the error that the connection broke with. */
  readonly lost: AbortSignal;
  /** Called at once when a message arrives on any queue; a hint only. Gives the way to stop it. */
  onMessage(listener: (queue: string) => void): () => void;
  close(): Promise<void>;
};

/** A consumer that has not been heard of for this long is dead, and its messages go to another; 10 is pg-boss's least. */
const heartbeatSeconds = 10;
export const heartbeatEveryMs = 3000;

const superviseSeconds = 2;
const years = 365 * 24 * 3600;
// Only the handler's outcomes give a message up: pg-boss's own limits are set where they never bite.
const queueSettings = {
  retryLimit: 1_000_000_000,
  retryDelay: 0,
  retryBackoff: false,
  expireInSeconds: 23 * 3600,
  retentionSeconds: 10 * years,
  heartbeatSeconds,
  notify: true,
};

export async function openSession({ url, schema, name, topology, log }: SessionParts): Promise<EmbeddedSession> {
  const losing = new AbortController();
  const listeners = new Set<(queue: string) => void>();
  const database = createEmbeddedDatabase({
    url,
    name,
    log,
    lost: (reason) => losing.abort(reason),
    notified: (queue) => listeners.forEach((listener) => listener(queue)),
  });
  const boss = await startBoss(database, schema, log).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const session: EmbeddedSession = {
    boss,
    database,
    lost: losing.signal,
    onMessage(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await boss.stop({ graceful: false, close: false }).catch((error: unknown) => log.debug({ error }, 'pg-boss did not stop cleanly'));
      await database.close();
    },
  };
  try {
    losing.signal.throwIfAborted();
    for (const queue of [topology.deadLetters.queue, ...topology.queues.map((one) => one.name)]) {
      await boss.createQueue(queue, queueSettings);
      await boss.updateQueue(queue, queueSettings);
    }
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function startBoss(db: EmbeddedDatabase, schema: string, log: Log): Promise<PgBoss> {
  const { rows }: { rows: { schemaExists: boolean }[] } = await db.executeSql('select to_regnamespace($1) is not null as "schemaExists"', [schema]);
  const boss = new PgBoss({
    db,
    schema,
    // A role that owns its schema may well not be allowed to create one, and "if not exists" asks for the right first.
    createSchema: rows[0]?.schemaExists !== true,
    schedule: false,
    useListenNotify: true,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    // A backlog is what metrics and alerts are for; pg-boss would warn of it every two seconds.
    warningQueueSize: 2 ** 31 - 1,
  });
  boss.on('error', (error) => log.debug({ reason: describeError(error) }, 'pg-boss reports an error'));
  boss.on('warning', ({ message, data }) => log.warn({ data }, message));
  try {
    return await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false, close: false });
    throw error;
  }
}
