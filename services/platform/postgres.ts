// Postgres: a pool, named prepared statements, and transactions as databases bound to one connection.
import pg from 'pg';
import type { Log } from './log.ts';

/** A question in SQL with the types of its row and parameters. Each name has one text; Postgres plans it once a connection. */
export type Statement<Row, Values extends readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** Only for the compiler. */
  readonly types?: (values: Values) => Row;
};
export const statement = <Row, const Values extends readonly unknown[] = []>(name: string, text: string): Statement<Row, Values> => ({ name, text });

/** What knex builds: `toSQL().toNative()`. */
type Built = { toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } } };

export type Database = {
  all<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row[]>;
  first<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row | undefined>;
  /** @returns how many rows were affected */
  run<Values extends readonly unknown[]>(command: Statement<unknown, Values>, ...values: Values): Promise<number>;
  /** A query built by knex, not prepared by name. */
  select<Row>(query: Built): Promise<Row[]>;
  /** Commits when `work` ends, rolls back when it throws. */
  transaction<T>(work: (inTransaction: Database) => Promise<T>): Promise<T>;
  /** Runs `work` if nobody else holds the session lock `name`, in any process; undefined when somebody does. */
  whileLocked<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
};

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
export function createPool(url: string, { schema, log, maxConnections = 10, statementMs = 30_000, connectMs = 5000, answerMs }: PoolOptions): Pool {
  const driver = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectMs,
    ...(answerMs !== undefined && { query_timeout: answerMs }),
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: `signalbox-${schema}`,
    options: `-c search_path=${schema} -c statement_timeout=${statementMs} -c idle_in_transaction_session_timeout=60000`,
    types,
  });
  // An idle connection that breaks is replaced by the next question; unheard, the event would end the process.
  driver.on('error', (error) => log.warn({ error }, 'an idle database connection was lost'));
  return { ...bind(driver, (work) => inTransaction(driver, work), (name, work) => whileLocked(driver, name, work)), driver, close: () => driver.end() };
}

type Runner = Pick<pg.Pool | pg.PoolClient, 'query'>;

function bind(runner: Runner, transaction: Database['transaction'], locked: Database['whileLocked']): Database {
  const ask = (question: { name: string; text: string }, values: readonly unknown[]) =>
    runner.query({ name: question.name, text: question.text, values: [...values] });
  return {
    async all<Row>(question: { name: string; text: string }, ...values: readonly unknown[]) {
      return (await ask(question, values)).rows as Row[]; // the statement's declaration says what its columns are
    },
    async first<Row>(question: { name: string; text: string }, ...values: readonly unknown[]) {
      return (await ask(question, values)).rows[0] as Row | undefined; // as above
    },
    run: async (command, ...values) => (await ask(command, values)).rowCount ?? 0,
    async select<Row>(query: Built) {
      const { sql, bindings } = query.toSQL().toNative();
      return (await runner.query(sql, [...bindings])).rows as Row[]; // the caller's query says what its columns are
    },
    transaction,
    whileLocked: locked,
  };
}

async function inTransaction<T>(driver: pg.Pool, work: (inTransaction: Database) => Promise<T>): Promise<T> {
  const client = await driver.connect();
  const nested = () => Promise.reject(new TypeError('a transaction cannot be opened inside a transaction'));
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(bind(client, nested, nested));
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

async function whileLocked<T>(driver: pg.Pool, name: string, work: () => Promise<T>): Promise<T | undefined> {
  const client = await driver.connect();
  let broken: Error | undefined;
  try {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock(hashtextextended($1, 0)) as locked', [name]);
    if (rows[0]?.locked !== true) return undefined;
    try {
      return await work();
    } finally {
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]);
    }
  } catch (error) {
    broken = error instanceof Error ? error : new Error('failed');
    throw error;
  } finally {
    client.release(broken); // a connection that may still hold the lock is closed, which frees it
  }
}
