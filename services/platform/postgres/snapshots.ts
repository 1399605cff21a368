// Long texts that are written from one snapshot of the database while they are sent. Each holds a connection for as long as its reader takes.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import knex, { type Knex } from 'knex';
import { clientIn } from '../client-address.ts';
import { Common } from '../problem.ts';
import { createKeyedSemaphore } from '../semaphore.ts';
import { type Database, statement } from './pool.ts';

const builder = knex({ client: 'pg' });

export type SnapshotLimits = {
  /** Below the connections of the pool, so that slow readers leave some to all other requests. */
  readonly atOnce: number;
  /** For one of these; later it is 503. */
  readonly waitMs: number;
  /** A slower reader is disconnected. The server disconnects one that reads nothing sooner. */
  readonly longestMs: number;
};

export const usualSnapshotLimits: SnapshotLimits = { atOnce: 4, waitMs: 5000, longestMs: 600_000 };

const freeze = statement('snapshot.freeze', 'set transaction isolation level repeatable read, read only');

/** The head of an answer, and its text in pieces: the next piece is read when the last was sent. */
type Begun<Head> = { readonly head: Head; readonly pieces: AsyncIterable<string> };

export type OpenSnapshot = ReturnType<typeof createSnapshots>;

export function createSnapshots(database: Database, { atOnce, waitMs, longestMs }: SnapshotLimits) {
  // The list may be public: a client that reads slowly leaves one to all others.
  const readers = createKeyedSemaphore({ perKey: Math.max(1, atOnce - 1), total: atOnce });

  /** All questions to `snapshot` see one moment, however long they take. @param address that of the client @throws Problem 503 */
  return async <Head>(address: string, begin: (snapshot: Database) => Promise<Begun<Head>>): Promise<{ readonly head: Head; readonly text: Readable }> => {
    const leave = await readers.acquire(clientIn(address), waitMs);
    if (!leave) throw Common.unavailable({ detail: 'Too many long lists are being read.', headers: { 'Retry-After': '5' } });
    const opened = Promise.withResolvers<{ head: Head; text: Readable }>();
    const reading = database.transaction(async (snapshot) => {
      await snapshot.run(freeze);
      const { head, pieces } = await begin(snapshot);
      const text = Readable.from(pieces);
      const cut = setTimeout(() => text.destroy(new Error(`not read within ${longestMs} ms`)), longestMs);
      opened.resolve({ head, text });
      // It ends too when its reader disconnects; the answer reports its failure.
      await finished(text).finally(() => clearTimeout(cut));
    });
    void reading.catch(opened.reject).finally(leave);
    return opened.promise;
  };
}

/** Few enough to be held in memory, however long each is. */
const rowsAtOnce = 200;

/** All rows of a query, a few at a time, in a transaction. One list at a time. */
export async function* readByCursor<Row>(inTransaction: Database, query: Knex.QueryBuilder): AsyncGenerator<Row[], undefined> {
  await inTransaction.select(builder.raw('declare list no scroll cursor for ?', [query]));
  for (;;) {
    const rows = await inTransaction.select<Row>(builder.raw(`fetch ${rowsAtOnce} from list`));
    yield rows;
    if (rows.length < rowsAtOnce) break;
  }
  await inTransaction.select(builder.raw('close list'));
  return undefined;
}
