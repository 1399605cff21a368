// pg-boss on one set of connections, from connecting until they are lost; then everything of it is void, and the next session is opened.
import { EventEmitter, once } from 'node:events';
import pg from 'pg';
import type { Db, PgBoss } from 'pg-boss';
import { describeError, toError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { createSockets, deadClientOptions, keepAlive, transactionOn, withConnection, withVerifiedTls } from '../../postgres/pool.ts';
import { every, withTimeout } from '../../time.ts';
import type { Topology } from '../broker.ts';
import { createConnectFailures, pauseAfterFailure, redeliveredQueue } from '../outcomes.ts';

export type ConnectionParts = {
  readonly url: string;
  readonly schema: string;
  readonly name: string;
  readonly topology: Topology;
  readonly log: Log;
  onConnected(session: EmbeddedSession): void;
  onDisconnected(reason: string): void;
};

export type EmbeddedSession = Awaited<ReturnType<typeof openSession>>;

type Sockets = ReturnType<typeof createSockets>;

/** For an orderly end, before the sockets to a server that hangs are cut. */
const closeMs = 2000;

/** Opens a session, waits until it is lost, opens the next. */
export function createEmbeddedConnection(parts: ConnectionParts) {
  const { log } = parts;
  const sockets = createSockets();
  const closing = new AbortController();
  const told = createConnectFailures(log, 'connecting to the embedded broker failed, retrying');

  async function useOne(connectMs: number): Promise<void> {
    await using session = await openSession(parts, sockets, connectMs);
    const over = AbortSignal.any([session.lost, closing.signal]);
    if (!over.aborted) {
      log.info('connected to the embedded broker');
      parts.onConnected(session);
      told.connected();
      if (!over.aborted) await once(over, 'abort');
    }
    if (session.lost.aborted) {
      log.warn({ reason: describeError(session.lost.reason) }, 'lost the connection to the embedded broker, reconnecting');
      parts.onDisconnected(describeError(session.lost.reason));
      // Goodbyes to a server that hangs would delay the next session by seconds.
      sockets.cut();
    }
  }

  async function keepOpen(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        await useOne(connectMsAfter(failures));
        failures = 1;
      } catch (error) {
        const reason = describeError(error);
        told.failed(reason);
        parts.onDisconnected(reason);
        failures += 1;
      }
      await pauseAfterFailure(failures, closing.signal);
    }
  }

  const kept = keepOpen();
  return {
    async close(): Promise<void> {
      closing.abort();
      await withTimeout(kept, closeMs, sockets.cut);
      await kept;
    },
  };
}

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

async function openSession(parts: ConnectionParts, sockets: Sockets, connectMs: number) {
  await using opened = new AsyncDisposableStack();
  const database = createEmbeddedDatabase(parts, sockets);
  opened.defer(database.close);
  await withTimeout(database.executeSql('select 1'), connectMs, () => {
    sockets.cut();
    throw new Error(`no connection after ${connectMs} ms`);
  });
  const boss = await createBoss(database, parts);
  opened.defer(async () => {
    const stopped = boss.stop({ graceful: false, close: false }).catch((error: unknown) => parts.log.debug({ error }, 'pg-boss did not stop cleanly'));
    await withTimeout(stopped, closeMs, () => undefined);
  });
  await boss.start();
  database.lost.throwIfAborted();
  for (const queue of [parts.topology.deadLetters.queue, ...parts.topology.queues.flatMap(({ name }) => [name, redeliveredQueue(name)])]) {
    await boss.createQueue(queue, queueSettings);
    await boss.updateQueue(queue, queueSettings);
  }
  const kept = opened.move();
  return { boss, database, lost: database.lost, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function createBoss(db: EmbeddedDatabase, { schema, log }: ConnectionParts): Promise<PgBoss> {
  const { rows }: { rows: { schemaExists: boolean }[] } = await db.executeSql('select to_regnamespace($1) is not null as "schemaExists"', [schema]);
  // Only where it is needed: most installations have RabbitMQ, and it takes a while to load.
  const { PgBoss } = await import('pg-boss');
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
  return boss;
}

/** The connection broke after COMMIT was sent: the transaction may or may not have happened. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

const connectTimeoutMs = 8000;
/**
 * For the first connection of a session. Short after a loss: while an address leads to a machine that is gone, each attempt hangs for all of it.
 * A process that starts (0) is busy with loading.
 */
const connectMsAfter = (failures: number) => (failures === 0 ? connectTimeoutMs : Math.min(1000 + 1000 * failures, connectTimeoutMs));
/** No statement of a broker takes this long; a server that is silent for it is gone. */
const queryTimeoutMs = 20_000;
const listenerCheckMs = 5000;
/** A busy server may take some of it; one that is gone is noticed sooner than by any other statement. */
const listenerAnswerMs = 8000;
/** For a server that has just left a transaction unanswered. */
const suspectAnswerMs = 2000;

const ignore = () => undefined;

type EmbeddedDatabase = ReturnType<typeof createEmbeddedDatabase>;

/** A session that consumes a queue shares an advisory lock of this class on its name, which ends with the session: so consumers can be counted. */
const consumerLocks = 0x7369676e;
/** The SQL that counts the sessions which consume the queue named by `$1`, with its schema. */
export const countConsumers = `select count(*)::int from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted and classid = ${consumerLocks}
  and objid = hashtext($1::text)::oid and database = (select oid from pg_database where datname = current_database())`;

/** The database as pg-boss wants it, on a pool and a listening connection of its own. */
function createEmbeddedDatabase({ url, schema, name, log }: Pick<ConnectionParts, 'url' | 'schema' | 'name' | 'log'>, sockets: Sockets) {
  const losing = new AbortController();
  const lost = (reason: Error) => losing.abort(reason);
  const arrivals = new EventEmitter<{ message: [queue: string] }>();
  const connection = {
    connectionString: withVerifiedTls(url),
    application_name: name,
    stream: sockets.open,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    ...keepAlive,
    options: deadClientOptions,
  };
  const pool = new pg.Pool({ ...connection, max: 4, idleTimeoutMillis: 60_000 });
  pool.on('error', (error) => log.debug({ error }, 'an idle broker connection broke'));
  // One statement at a time on the listening connection: node-postgres 9 takes no second one meanwhile.
  let listener: pg.Client | undefined;
  let last = Promise.resolve();
  let isChecking = false;
  const askListener = (text: string, values: unknown[], failed: (error: Error) => void) =>
    (last = last.then(() => listener?.query(text, values)).then(ignore, failed));
  // Counting is worth no session: a silent server is found by the next check.
  const noteConsumer = (tells: 'try_advisory_lock_shared' | 'advisory_unlock_shared', queue: string) =>
    askListener(`select pg_${tells}(${consumerLocks}, hashtext($1::text))`, [`${schema}.${queue}`], ignore);

  return {
    /** Aborted when the listening connection breaks, with its error as the reason: everything on this database counts as lost. */
    lost: losing.signal,
    /** Emits at once when a message arrives on any queue; a hint only. */
    arrivals,

    executeSql: (text: string, values?: unknown[]) => pool.query(text, values),

    transaction: <Result>(work: (inTransaction: Db) => Promise<Result>): Promise<Result> =>
      withConnection(pool, (client) => {
        const commitFailed = (error: unknown) =>
          error instanceof pg.DatabaseError ? error : new CommitUnknown('lost the connection while committing', { cause: error });
        return transactionOn(client, () => work({ executeSql: (text, values) => client.query(text, values) }), commitFailed);
      }),

    /** Call while a transaction waits for long: a server that does not answer the listening connection either is given up before the next check. */
    async checkNow(): Promise<void> {
      if (isChecking) return;
      isChecking = true;
      await withTimeout(askListener('select 1', [], lost), suspectAnswerMs, () => lost(new Error('the server does not answer')));
      isChecking = false;
    },

    /** Counted as a consumer of the queue, until `ended` or the end of the session. Another role's exclusive lock leaves it out of the count. */
    consumes: (queue: string) => noteConsumer('try_advisory_lock_shared', queue),
    ended: (queue: string) => noteConsumer('advisory_unlock_shared', queue),

    async listen(channel: string, onNotification: (payload: string) => void) {
      const client = new pg.Client({ ...connection, query_timeout: listenerAnswerMs });
      const closing = new AbortController();
      client.on('error', lost);
      client.on('end', () => lost(new Error('the connection ended')));
      client.on('notification', ({ payload }) => {
        if (payload === undefined) return;
        onNotification(payload);
        arrivals.emit('message', payload);
      });
      const close = async () => {
        closing.abort();
        await client.end().catch(ignore);
      };
      try {
        await client.connect();
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
        // One check at a time: a server that hangs leaves the check before it unanswered.
        listener = client;
        void every(listenerCheckMs, AbortSignal.any([closing.signal, losing.signal]), () => askListener('select 1', [], lost));
      } catch (error) {
        // pg-boss would carry on by polling; to us the broker is not connected then.
        lost(toError(error));
        await close();
        throw error;
      }
      return { close };
    },

    close: () => sockets.close(pool.end()),
  };
}
