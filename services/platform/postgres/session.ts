// Work that keeps one connection for itself: transactions, and what runs while a lock is held.
import pg from 'pg';
import type { Built, Database } from './database.ts';
import { withTimeout } from '../time.ts';

type Runner = { query(question: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> };

/** A database on a pool or on one of its connections. */
export function bind(runner: Runner, transaction: Database['transaction'], whileLocked: Database['whileLocked']): Database {
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
    whileLocked,
  };
}

const lookEveryMs = 100;

/**
 * Whichever comes first: a connection that is opened, or one that another question gives back meanwhile. The pool by itself has
 * whoever asks wait for the one that it opens for them, which took above 5 s on a busy node, beside others that were idle again.
 */
async function connect(driver: pg.Pool): Promise<pg.PoolClient> {
  // One that is idle may be promised to another that asked in this same moment.
  const isOneFree = () => driver.idleCount > driver.waitingCount;
  if (isOneFree()) return driver.connect();
  const wanted = driver.connect();
  for (;;) {
    const client = await withTimeout<pg.PoolClient | undefined>(wanted, lookEveryMs, () => undefined);
    if (client) return client;
    if (!isOneFree()) continue;
    wanted.then((late) => late.release()).catch(() => undefined); // it is nobody's failure any more
    return driver.connect();
  }
}

/** A connection of one's own, given back as usable, or closed when `work` says that it broke. */
export async function withConnection<T>(driver: pg.Pool, work: (client: pg.PoolClient, broke: (error: Error) => void) => Promise<T>): Promise<T> {
  const client = await connect(driver);
  let broken: Error | undefined;
  const broke = (error: Error) => {
    broken ??= error;
  };
  // Lost between two questions, it tells so by an event that would end the process unheard; the next question fails with it.
  client.on('error', broke);
  try {
    return await work(client, broke);
  } finally {
    client.off('error', broke);
    client.release(broken);
  }
}

/**
 * Questions on any free connection. The pool's own `query` closes the connection of every question that failed;
 * here an error that the server answered, such as a unique violation, leaves it in use.
 */
export const onAnyConnection = (driver: pg.Pool): Runner => ({
  query: (question, values) =>
    withConnection(driver, async (client, broke) => {
      try {
        return await client.query(question, values);
      } catch (error) {
        if (error instanceof Error && !(error instanceof pg.DatabaseError)) broke(error);
        throw error;
      }
    }),
});

export function inTransaction<T>(driver: pg.Pool, work: (inTransaction: Database) => Promise<T>): Promise<T> {
  const nested = () => Promise.reject(new TypeError('a transaction cannot be opened inside a transaction'));
  return withConnection(driver, async (client, broke) => {
    try {
      await client.query('begin');
      const result = await work(bind(client, nested, nested));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(broke);
      throw error;
    }
  });
}

/** `work` uses other connections of the pool; when it fails, its error is what the caller gets. */
export function whileLocked<T>(driver: pg.Pool, name: string, work: () => Promise<T>): Promise<T | undefined> {
  return withConnection(driver, async (client, broke) => {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock(hashtextextended($1, 0)) as locked', [name]);
    if (rows[0]?.locked !== true) return undefined;
    try {
      return await work();
    } finally {
      // A connection that may still hold the lock is closed, which frees it.
      await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [name]).catch(broke);
    }
  });
}
