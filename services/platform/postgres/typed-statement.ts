// One statement that a person typed, in a transaction of its own.
import pg from 'pg';
import { type Pool, transactionOn } from './pool.ts';

export type Row = Readonly<Record<string, unknown>>;
/** `command` is empty for a statement that has only spaces and comments. */
export type Result = Pick<pg.QueryResult, 'command' | 'fields' | 'rowCount'>;

type Execution = { readonly text: string; readonly isWrite: boolean; readonly take: (row: Row) => void };

/** An interval as Postgres writes it: `00:05:12.3`. node-postgres makes an object of it. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INTERVAL, String);

/** Gives each row to `take` and keeps none, in a pool without `answerMs`: with it node-postgres keeps every row. */
export async function execute({ driver }: Pool, { text, isWrite, take }: Execution): Promise<Result> {
  const client = await driver.connect();
  // A connection that is lost fails its statement as well.
  client.on('error', () => undefined);
  try {
    return await transactionOn(client, async () => {
      if (!isWrite) await client.query('set transaction read only');
      // A named statement is one statement: a second one could end the transaction that only reads.
      const query = client.query(new pg.Query<Row>({ name: 'command.sql', text, types }));
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      query.on('row', take).on('error', reject).on('end', resolve);
      return promise;
    });
  } finally {
    client.release(true);
  }
}
