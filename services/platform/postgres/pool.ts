// A pool of connections to Postgres, what a store may ask of it, and work that keeps one connection for itself: transactions, locks.
import { Socket } from 'node:net';
import pg from 'pg';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { withTimeout } from '../time.ts';
import { isUnavailable, StandbyRefused } from './errors.ts';

/** A question in SQL with the types of its row and parameters. Each name has one text; Postgres plans it once a connection. */
export type Statement<Row, Values extends readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** The parameters of `text`, where they are not the values themselves (rows.ts). */
  readonly encode?: (values: Values) => readonly unknown[];
  /** Only for the compiler. */
  readonly types?: (values: Values) => Row;
};
export const statement = <Row, const Values extends readonly unknown[] = []>(name: string, text: string): Statement<Row, Values> => ({ name, text });

/** A query of knex. */
type Built = { toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } } };

/** On a pool or inside a transaction alike. */
export type Database = {
  all<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row[]>;
  first<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row | undefined>;
  /** @returns how many rows were affected */
  run<Values extends readonly unknown[]>(command: Statement<unknown, Values>, ...values: Values): Promise<number>;
  /** A query built by knex, not prepared by name. */
  select<Row>(query: Built): Promise<Row[]>;
  /** Commits when `work` ends, rolls back when it throws. */
  transaction<T>(work: (inTransaction: Database) => Promise<T>): Promise<T>;
  /** Runs `work` unless a process holds the session lock `name`; undefined when one does. */
  whileLocked<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
};

type Runner = { query(question: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> };

/** `query` is for libraries that want a pool of node-postgres. */
export type Pool = Database &
  Runner & {
    readonly driver: pg.Pool;
    /** When the server last answered, by `performance.now()`; -Infinity before the first time. */
    readonly answeredAt: number;
    close(): Promise<void>;
  };

export type PoolOptions = {
  /** First on the search path; every table of a deployable is in its own schema. */
  readonly schema: string;
  readonly log: Log;
  /** Where its connections are counted. */
  readonly metrics?: Metrics;
  /** Among the pools of the process. */
  readonly name?: string;
  readonly maxConnections?: number;
  /** The server cancels a statement that runs longer. Default: 30 s. */
  readonly statementMs?: number;
  /** A statement that waits longer for a lock fails with `lock_not_available`. Default: no limit. */
  readonly lockMs?: number;
  /** For a connection, a free one or a new one. Default 8 s: a lookup of its host whose packet got lost takes 5 s. */
  readonly connectMs?: number;
  /** A statement without an answer by then fails, and its connection is closed: the server or the network hangs. Default: no limit. */
  readonly answerMs?: number;
};

/** The limits of every pool that serves requests: a client that waits for an answer longer than 10 s has gone. */
export const requestLimits = { statementMs: 8000, answerMs: 10_000 };

// bigint and numeric arrive as text; here they are JSON numbers, and none of ours passes 2^53.
const numeric = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numeric.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown)), // untyped upstream
};

/**
 * Names the strict mode of TLS: pg 8 takes `prefer`, `require` and `verify-ca` for `verify-full`, and pg 9 will not.
 * A URL with `uselibpqcompat=true` asks for the weaker meaning and keeps it.
 */
export const withVerifiedTls = (url: string): string =>
  url.includes('uselibpqcompat=true') ? url : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|#|$)/, '$1verify-full');

/** A node that loses its power closes no connection: without these, Postgres keeps its sessions with their locks for two hours (Linux' default). */
export const deadClientOptions = '-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3';

/** Kept open however long nothing is asked: opening one took above 5 s on a busy node. */
const keptConnections = 2;

/** A machine that is gone without a word is noticed after 20 s: Node asks every second, ten times. The kernel alone would begin after two hours. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Opens nothing yet: the first question connects, so a database that is down does not stop a start. */
export function createPool(url: string, options: PoolOptions): Pool {
  const { schema, log, metrics, name = 'database', maxConnections = 10, statementMs = 30_000, lockMs = 0, connectMs = 8000, answerMs = 0 } = options;
  const sockets = createSockets();
  const driver = new pg.Pool({
    connectionString: withVerifiedTls(url),
    stream: sockets.open,
    min: Math.min(keptConnections, maxConnections),
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 30_000,
    ...keepAlive,
    onConnect: (client) => refuseStandby(client, connectMs), // eslint-disable-line @typescript-eslint/no-misused-promises -- pg-pool waits for it, though its type says void
    application_name: `signalbox-${schema}`,
    options: `-c search_path=${schema} -c statement_timeout=${statementMs} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=60000 ${deadClientOptions}`,
    types,
  });
  if (metrics) measurePool(metrics, driver, { schema, pool: name });
  // An idle connection that breaks is replaced by the next question; unheard, the event would end the process.
  driver.on('error', (error) => log.warn({ error }, 'lost an idle database connection'));
  let answeredAt = -Infinity;
  // The error is `true` for a connection that is closed, as its server did not answer.
  driver.on('release', (error: unknown) => {
    if (!error) answeredAt = performance.now();
  });
  return {
    ...databaseOn(driver, answerMs),
    driver,
    get answeredAt() {
      return answeredAt;
    },
    close: () => sockets.close(driver.end()),
  };
}

/**
 * As libpq does for `target_session_attrs=primary`. During a failover an address may lead to a standby for a moment: its reads lag behind,
 * and a pool would keep the connection. pg-pool's own time for a connection is over by now: without one here, a server that hangs would be waited for.
 */
async function refuseStandby(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  const question = { text: 'select pg_is_in_recovery() as "isStandby"', query_timeout: timeoutMs };
  const { rows } = await client.query<{ isStandby: boolean }>(question);
  if (rows[0]?.isStandby !== false) throw new StandbyRefused();
}

function measurePool(metrics: Metrics, driver: pg.Pool, labels: { readonly schema: string; readonly pool: string }): void {
  metrics.gauge({
    name: 'signalbox_database_connections',
    help: 'Connections to Postgres that a pool has open, by whether they are in use.',
    labels: ['schema', 'pool', 'state'],
    collect(reading) {
      reading.set({ ...labels, state: 'idle' }, driver.idleCount);
      reading.set({ ...labels, state: 'busy' }, driver.totalCount - driver.idleCount);
    },
  });
  metrics.gauge({
    name: 'signalbox_database_connections_limit',
    help: 'Connections that a pool may open.',
    labels: ['schema', 'pool'],
    collect: (reading) => reading.set(labels, driver.options.max),
  });
  metrics.gauge({
    name: 'signalbox_database_waiting',
    help: 'Questions that wait for a connection of a pool.',
    labels: ['schema', 'pool'],
    // pg-pool queues every question for a tick, the check of this very scrape too: with an idle connection it does not wait.
    collect: (reading) => reading.set(labels, Math.max(0, driver.waitingCount - driver.idleCount)),
  });
}

/** For what is still under way when everything that asks has been closed. */
const closeMs = 1000;

/** The sockets of some connections, so that those to a server that hangs can be cut. */
export function createSockets() {
  const sockets = new Set<Socket>();
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    /** The option `stream` of node-postgres. */
    open(): Socket {
      const socket = new Socket();
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      return socket;
    },
    /** Waits a second for the goodbyes; a server that hangs answers neither a question nor the goodbye. */
    async close(goodbyes: Promise<unknown>): Promise<void> {
      const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      await withTimeout<unknown>(Promise.all([goodbyes, ...closed]), closeMs, () => undefined);
      cut();
    },
    /** Statements that wait for an answer fail. */
    cut,
  };
}

/** The questions that a pool and a single connection answer alike. */
export function questionsTo(runner: Runner): Omit<Database, 'transaction' | 'whileLocked'> {
  const ask = <Values extends readonly unknown[]>({ name, text, encode }: Statement<unknown, Values>, values: Values) =>
    runner.query({ name, text, values: [...(encode ? encode(values) : values)] });
  return {
    async all<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values) {
      return (await ask(question, values)).rows as Row[]; // the statement's declaration says what its columns are
    },
    async first<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values) {
      return (await ask(question, values)).rows[0] as Row | undefined; // as above
    },
    run: async (command, ...values) => (await ask(command, values)).rowCount ?? 0,
    async select<Row>(query: Built) {
      const { sql, bindings } = query.toSQL().toNative();
      return (await runner.query(sql, [...bindings])).rows as Row[]; // the caller's query says what its columns are
    },
  };
}

const tryToLock = statement<{ locked: boolean }, [name: string]>('lock', 'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked');
const unlock = statement<unknown, [name: string]>('unlock', 'select pg_advisory_unlock(hashtextextended($1, 0))');

function databaseOn(driver: pg.Pool, answerMs: number): Database & Runner {
  const connected = <T>(work: (connection: Connection) => Promise<T>) => withConnection(driver, work, answerMs);
  // The pool's own `query` closes the connection of every question that failed, a unique violation for one.
  const runner: Runner = { query: (question, values) => connected((connection) => connection.query(question, values)) };
  return {
    ...runner,
    ...questionsTo(runner),
    transaction: (work) => connected((connection) => transactionOn(connection, () => work(inTransaction(connection)))),
    // `work` uses other connections of the pool; when it fails, its error is what the caller gets.
    whileLocked: (name, work) =>
      connected(async (connection) => {
        const { first } = questionsTo(connection);
        if ((await first(tryToLock, name))?.locked !== true) return undefined;
        try {
          return await work();
        } catch (error) {
          // The unlock would wait for a server that hangs as long once more.
          if (isUnavailable(error)) connection.giveUp();
          throw error;
        } finally {
          // A connection that may still hold the lock is closed, which frees it.
          await first(unlock, name).catch(connection.giveUp);
        }
      }),
  };
}

const nested = () => Promise.reject(new TypeError('a transaction cannot be opened inside a transaction'));
const inTransaction = (connection: Runner): Database => ({ ...questionsTo(connection), transaction: nested, whileLocked: nested });

type Connection = Runner & { readonly giveUp: () => void };
const ignore = () => undefined;

/**
 * A connection of one's own, given back as usable, or closed: when it was given up, or a question on it failed without an answer of the server.
 * @param answerMs a question without an answer by then fails; unless 0, the default
 */
export async function withConnection<T>(driver: pg.Pool, work: (connection: Connection) => Promise<T>, answerMs = 0): Promise<T> {
  const client = await driver.connect();
  let isGivenUp = false;
  let isServerLost = false;
  // Lost between two questions, it tells so by an event that would end the process unheard; the next question fails with it.
  client.on('error', ignore);
  try {
    return await work({
      giveUp: () => void (isGivenUp = true),
      query: (question, values) =>
        // A rollback on a connection that hangs would wait as long as the statement before it.
        isGivenUp
          ? Promise.reject(new Error('Connection terminated: a statement before this one had no answer'))
          : answerOf(client, { ...(typeof question === 'string' ? { text: question } : question), ...(values && { values }) }, answerMs).catch(
              (error: unknown) => {
                if (error instanceof Error) Error.captureStackTrace(error); // that of the socket tells nothing
                isGivenUp ||= !(error instanceof pg.DatabaseError);
                isServerLost ||= isGivenUp && isUnavailable(error);
                throw error;
              },
            ),
    });
  } finally {
    client.off('error', ignore);
    client.release(isGivenUp);
    if (isServerLost) closeIdle(driver);
  }
}

/**
 * By callback, with a timer of its own: the rows of node-postgres' promise, or beside its timer, outlive two collections of the young heap,
 * which took a quarter of the processor's time of a page. @throws Error
 */
function answerOf(client: pg.ClientBase, question: pg.QueryConfig, answerMs: number): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const timer = answerMs > 0 ? setTimeout(() => reject(new Error('query read timeout')), answerMs) : undefined;
    client.query(question, (error: Error | null, result) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(result);
    });
  });
}

/** After a failover idle connections may lead to a machine that is gone: each would cost one more question its time. */
function closeIdle(driver: pg.Pool): void {
  for (let left = driver.idleCount; left > 0; left -= 1) driver.connect().then((client) => client.release(true), ignore);
}

/**
 * Commits when `work` ends, rolls back when it throws.
 * @param commitFailed what is thrown when the commit fails; the error itself unless given
 */
export async function transactionOn<T>(runner: Runner, work: () => Promise<T>, commitFailed?: (error: unknown) => unknown): Promise<T> {
  try {
    await runner.query('begin');
    const result = await work();
    await runner.query('commit').catch((error: unknown) => {
      throw commitFailed?.(error) ?? error;
    });
    return result;
  } catch (error) {
    await runner.query('rollback').catch(ignore); // the connection is lost, and with it the transaction
    throw error;
  }
}
