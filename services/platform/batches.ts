// Two ways to do many things at once: a batcher answers questions that are asked together, a batch writer writes rows in the background.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Common } from './problem.ts';
import { sleepUntil, withTimeout } from './time.ts';
import { refusesData } from './postgres/errors.ts';

type BatcherOptions<Q> = {
  /** Statements under way at once. */
  readonly concurrency: number;
  /** Questions in one statement, or what they weigh together; one is always asked. */
  readonly maxBatch: number;
  /** 1 for each question unless given. */
  readonly weightOf?: (question: Q) => number;
  /** Questions that wait for a turn; one more is refused. */
  readonly maxWaiting: number;
  /** Failures after which each question is asked alone, since one of them may be the reason; those by which the database refuses data unless given. */
  readonly isOfOne?: (error: unknown) => boolean;
};

/** For reads that share a statement: while one is at the database the next fills up; a second one, since the connection of the first may hang. */
export const sharedReads = { concurrency: 2, maxBatch: 100, maxWaiting: 1000 };

type Waiting<Q, A> = { readonly question: Q; readonly resolve: (answer: A) => void; readonly reject: (error: unknown) => void };

/**
 * Questions of one turn of the event loop are asked together, and those that come while every statement is under way.
 * A statement begins after each of its questions was put, so that its answers are as fresh as if each were asked alone.
 * @param ask answers in the order of the questions; when it fails for one of several, each is asked alone
 * @returns what puts a question; rejects with Problem 503 when too many wait
 */
export function createBatcher<Q, A>(ask: (questions: readonly Q[]) => Promise<readonly A[]>, options: BatcherOptions<Q>): (question: Q) => Promise<A> {
  const { concurrency, maxBatch, maxWaiting, weightOf = () => 1, isOfOne = refusesData } = options;
  const waiting: Waiting<Q, A>[] = [];
  let free = concurrency;

  async function answer(group: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await ask(group.map(({ question }) => question));
      if (answers.length !== group.length) throw new TypeError(`ask must answer each of ${group.length} questions, got ${answers.length} answers`);
      answers.forEach((one, index) => group[index]?.resolve(one));
    } catch (error) {
      // One question may be the reason, and the others are asked again without it. After any other failure each would fail again.
      if (group.length > 1 && isOfOne(error)) for (const one of group) await answer([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  function nextGroup(): Waiting<Q, A>[] {
    let weight = 0;
    const tooMany = waiting.findIndex(({ question }, index) => (weight += weightOf(question)) > maxBatch && index > 0);
    return waiting.splice(0, tooMany === -1 ? waiting.length : tooMany);
  }

  async function work(): Promise<void> {
    free -= 1;
    // Questions from other sockets in the same turn share the statement.
    await endOfTurn();
    while (waiting.length > 0) await answer(nextGroup());
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

export type BatchWriterParts<Row> = {
  /** All of them or none; a batch whose outcome was not known comes again. */
  readonly write: (rows: readonly Row[]) => Promise<unknown>;
  /** Told of every write that failed but for what one row holds; what is no fault of the rows themselves is tried again after the pause. */
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

/** Rows are written in the order in which they came. */
export function createBatchWriter<Row>({ write, onFailure, onRefused, limits }: BatchWriterParts<Row>) {
  const { maxWaiting, batchSize, pauseMs, batchesPerPause = Infinity, closeMs } = limits;
  const waiting: Row[] = [];
  const closing = new AbortController();
  let running: Promise<void> | undefined;

  /** The first of those that wait. @returns false when they are still to be written */
  async function writeBatch(size: number): Promise<boolean> {
    const rows = waiting.slice(0, size);
    try {
      await write(rows);
      waiting.splice(0, rows.length);
      return true;
    } catch (error) {
      if (refusesData(error) && rows.length === 1) {
        for (const row of waiting.splice(0, 1)) onRefused(row, error);
        return true;
      }
      onFailure(error);
      // One by one only what is refused is lost, and it does not keep the rest from being written.
      return refusesData(error) && writeBatches(rows.length, 1);
    }
  }

  /** @returns false when some are still to be written that could not be */
  async function writeBatches(most: number, size = batchSize): Promise<boolean> {
    for (let written = 0; written < most && waiting.length > 0; written++) if (!(await writeBatch(size))) return false;
    return true;
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      if (await sleepUntil(closing.signal, pauseMs)) await writeBatches(batchesPerPause);
      else if (!(await writeBatches(Infinity))) break; // no time to try again
    }
    running = undefined;
  }

  return {
    /** Rows that are not written yet. */
    get waiting() {
      return waiting.length;
    },
    /** False when `maxWaiting` rows wait. `add` takes more all the same: a caller that may drop a row asks first. */
    get hasRoom() {
      return waiting.length < maxWaiting;
    },
    /** Never waits and never throws. */
    add(row: Row): void {
      waiting.push(row);
      running ??= run();
    },
    /** Writes what waits, as far as the database can be asked. Never rejects. @returns how many rows are lost, as far as is known */
    async close(): Promise<number> {
      closing.abort();
      if (running) await withTimeout(running, closeMs, () => undefined);
      return waiting.length;
    },
  };
}
