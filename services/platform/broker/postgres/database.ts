// The Postgres connections of the embedded broker: a pool, transactions, and the listener that also tells when they are gone.
import type { Db } from 'pg-boss';
import pg from 'pg';
import type { Log } from '../../log.ts';

const connectTimeoutMs = 5000;
/** No statement of a broker takes this long; a server that is silent for it is gone. */
const queryTimeoutMs = 20_000;
const listenerCheckMs = 5000;

/** The connection broke after COMMIT was sent: the transaction may or may not have happened. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown';
}

type Listen = NonNullable<Db['listen']>;

export type EmbeddedDatabase = Db & {
  transaction<Result>(work: (inTransaction: Db) => Promise<Result>): Promise<Result>;
  listen: Listen;
  close(): Promise<void>;
};

export type DatabaseParts = {
  readonly url: string;
  readonly name: string;
  /** Called when the listening connection breaks: everything on this database counts as lost. */
  readonly lost: (reason: Error) => void;
  readonly notified: (queue: string) => void;
  readonly log: Log;
};

export function createEmbeddedDatabase({ url, name, lost, notified, log }: DatabaseParts): EmbeddedDatabase {
  const connection = {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
  };
  const pool = new pg.Pool({ ...connection, max: 4, idleTimeoutMillis: 60_000 });
  pool.on('error', (error) => log.debug({ error }, 'an idle broker connection broke'));

  return {
    executeSql: (text, values) => pool.query(text, values),

    async transaction(work) {
      const client = await pool.connect();
      // pg-pool leaves a checked-out client without a listener, and an error without one ends the process.
      client.on('error', ignore);
      let broken: Error | undefined;
      try {
        await client.query('begin');
        const result = await work({ executeSql: (text, values) => client.query(text, values) });
        await client.query('commit').catch((error: unknown) => {
          throw error instanceof pg.DatabaseError ? error : new CommitUnknown('lost the connection while committing', { cause: error });
        });
        return result;
      } catch (error) {
        broken = await client.query('rollback').then(() => undefined, toError);
        throw error;
      } finally {
        client.off('error', ignore);
        client.release(broken);
      }
    },

    async listen(channel, onNotification) {
      const client = new pg.Client(connection);
      const check = setInterval(() => void client.query('select 1').catch(lost), listenerCheckMs);
      client.on('error', lost);
      client.on('end', () => lost(new Error('the connection ended')));
      client.on('notification', ({ payload }) => {
        if (payload === undefined) return;
        onNotification(payload);
        notified(payload);
      });
      const close = async () => {
        clearInterval(check);
        await client.end().catch(ignore);
      };
      try {
        await client.connect();
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
      } catch (error) {
        // pg-boss would carry on by polling; to us the broker is not connected then.
        lost(toError(error));
        await close();
        throw error;
      }
      return { close };
    },

    close: () => pool.end(),
  };
}

const ignore = () => undefined;
const toError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));
