// Writes rows to Postgres in batches, off the path of the requests they tell of.
import { refusesData } from './errors.ts';
import { withTimeout } from '../time.ts';

export type BatchWriter<Row> = {
  /** Rows that are not written yet. */
  readonly waiting: number;
  /** False when as many wait as may. The writer takes more all the same: whoever may drop a row asks first. */
  readonly hasRoom: boolean;
  /** Never waits and never throws. Rows are written in the order in which they came. */
  add(row: Row): void;
  /** Writes what waits, as far as the database can be asked. Never rejects. @returns how many rows are lost, as far as is known */
  close(): Promise<number>;
};

export type BatchWriterParts<Row> = {
  /** All of them or none; a batch whose outcome was not known comes again. */
  readonly write: (rows: readonly Row[]) => Promise<unknown>;
  /** Told of every write that failed; what is no fault of the rows themselves is tried again after the pause. */
  readonly onFailure: (error: unknown) => void;
  /** Told of each row that the database refuses for what it holds. It is lost; the rest of its batch is not. */
  readonly onRefused: (row: Row, error: unknown) => void;
  readonly limits: BatchLimits;
};

export type BatchLimits = {
  readonly maxWaiting: number;
  readonly batchSize: number;
  /** From the first row that waits to its write: what a crash may lose. */
  readonly pauseMs: number;
  /** With one, the database is asked to take no more than a batch a pause, however much comes; without, all that waits. */
  readonly batchesPerPause?: number;
  /** How long closing waits for a database that hangs; a process has 20 s to stop. */
  readonly closeMs: number;
};

export function createBatchWriter<Row>({ write, onFailure, onRefused, limits }: BatchWriterParts<Row>): BatchWriter<Row> {
  const { maxWaiting, batchSize, pauseMs, batchesPerPause = Infinity } = limits;
  const waiting: Row[] = [];
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<boolean> | undefined;

  /** False when the batch is still to be written. */
  async function writeBatch(): Promise<boolean> {
    const batch = waiting.slice(0, batchSize);
    try {
      await write(batch);
    } catch (error) {
      onFailure(error);
      // One by one only what is refused is lost, and it does not keep the rest from being written.
      return refusesData(error) && writeSingly(batch);
    }
    waiting.splice(0, batch.length);
    return true;
  }

  async function writeSingly(batch: readonly Row[]): Promise<boolean> {
    for (const row of batch) {
      try {
        await write([row]);
      } catch (error) {
        if (!refusesData(error)) {
          onFailure(error);
          return false;
        }
        onRefused(row, error);
      }
      waiting.shift();
    }
    return true;
  }

  // Two that write at once would write the same rows.
  const writeNext = () => (writing ??= writeBatch().finally(() => (writing = undefined)));

  async function writeUpTo(batches: number): Promise<void> {
    for (let written = 0; written < batches && waiting.length > 0 && (await writeNext()); written++);
  }

  async function writeRest(): Promise<void> {
    await writing;
    await writeUpTo(Infinity);
  }

  function schedule(): void {
    if (isClosed) return;
    timer ??= setTimeout(() => {
      void writeUpTo(batchesPerPause).then(() => {
        timer = undefined;
        if (waiting.length > 0) schedule();
      });
    }, pauseMs);
  }

  return {
    get waiting() {
      return waiting.length;
    },
    get hasRoom() {
      return waiting.length < maxWaiting;
    },
    add(row) {
      waiting.push(row);
      schedule();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await withTimeout(writeRest(), limits.closeMs, () => undefined);
      return waiting.length;
    },
  };
}
