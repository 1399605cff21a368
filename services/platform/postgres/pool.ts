// A pool of connections to Postgres as a database to ask; what may be asked is in database.ts.
import { Socket } from 'node:net';
import pg from 'pg';
import type { Database } from './database.ts';
import type { Log } from '../log.ts';
import { bind, inTransaction, onAnyConnection, whileLocked } from './session.ts';
import { withTimeout } from '../time.ts';

export { type Database, type Statement, statement } from './database.ts';

export type Pool = Database & {
  /** For libraries that want a pool of node-postgres. */
  readonly driver: pg.Pool;
  close(): Promise<void>;
};

export type PoolOptions = {
  /** First on the search path; every table of a deployable is in its own schema. */
  readonly schema: string;
  readonly log: Log;
  readonly maxConnections?: number;
  /** A statement that runs longer is cancelled by the server. */
  readonly statementMs?: number;
  /** A statement that waits longer for a lock fails with `lock_not_available`. Without end unless given. */
  readonly lockMs?: number;
  /** For a connection, a free one or a new one. 8 s unless given: a lookup of its host whose packet got lost takes 5 s. */
  readonly connectMs?: number;
  /** A question without an answer by then has failed and its connection is given up: a server or network that hangs. Without end unless given. */
  readonly answerMs?: number;
};

// bigint and numeric arrive as text; here they are JSON numbers, and none of ours passes 2^53.
const numeric = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (numeric.has(oid) ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown)), // untyped upstream
};

/** Opens nothing yet: the first question connects, so a database that is down does not stop a start. */
export function createPool(url: string, options: PoolOptions): Pool {
  const { schema, log, maxConnections = 10, statementMs = 30_000, lockMs = 0, connectMs = 8000, answerMs } = options;
  const sockets = createSockets();
  const driver = new pg.Pool({
    connectionString: url,
    stream: sockets.open,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    ...(answerMs !== undefined && { query_timeout: answerMs }),
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: `signalbox-${schema}`,
    options: `-c search_path=${schema} -c statement_timeout=${statementMs} -c lock_timeout=${lockMs} -c idle_in_transaction_session_timeout=60000`,
    types,
  });
  // An idle connection that breaks is replaced by the next question; unheard, the event would end the process.
  driver.on('error', (error) => log.warn({ error }, 'an idle database connection was lost'));
  const database = bind(
    onAnyConnection(driver),
    (work) => inTransaction(driver, work),
    (name, work) => whileLocked(driver, name, work),
  );
  return {
    ...database,
    driver,
    close: () => sockets.close(driver.end()),
  };
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
    /** What waits for an answer fails. */
    cut,
  };
}
