// Two ways to do many things at once: a batcher answers questions that are asked together, a batch writer writes rows that nobody waits for.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Common } from './problem.ts';
import { withTimeout } from './time.ts';
import { refusesData } from './postgres/errors.ts';

export type BatcherOptions = {
  /** Statements under way at once. */
  readonly concurrency: number;
  /** Questions in one statement. */
  readonly maxBatch: number;
  /** Questions that wait for a turn; one more is refused. */
  readonly maxWaiting: number;
};

type Waiting<Q, A> = { readonly question: Q; readonly resolve: (answer: A) => void; readonly reject: (error: unknown) => void };

/**
 * Questions of one turn of the event loop are asked together, and those that come while every statement is under way.
 * A statement begins after each of its questions was put, so that its answers are as fresh as if each were asked alone.
 * @param ask answers in the order of the questions; when the database refuses several, each is asked alone
 * @returns what puts a question; rejects with Problem 503 when too many wait
 */
export function createBatcher<Q, A>(ask: (questions: readonly Q[]) => Promise<readonly A[]>, options: BatcherOptions): (question: Q) => Promise<A> {
  const { concurrency, maxBatch, maxWaiting } = options;
  let waiting: Waiting<Q, A>[] = [];
  let free = concurrency;

  async function answer(group: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question));
      answers.forEach((one, index) => group[index]?.resolve(one));
    } catch (error) {
      // One of them is what the database refuses, and the others are none the worse for it. Of any other failure each would fail anew.
      if (group.length > 1 && refusesData(error)) for (const one of group) await answer([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  async function work(): Promise<void> {
    free -= 1;
    // What comes in from other sockets at the same time shares the statement.
    await endOfTurn();
    while (waiting.length > 0) {
      const group = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      await answer(group);
    }
    free += 1;
  }

  return (question) => {
    if (waiting.length >= maxWaiting) return Promise.reject(Common.unavailable({ headers: { 'Retry-After': '5' } }));
    return new Promise((resolve, reject) => {
      waiting.push({ question, resolve, reject });
      if (free > 0) void work();
    });
  };
}

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
