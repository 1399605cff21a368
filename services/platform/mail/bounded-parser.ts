// Parses mails that anybody may have written, within bounds: what costs too much is refused unread, and the parser runs in a thread
// that is ended when it takes too long or too much memory. postal-mime takes 38 s for 9 MB of empty parts.
import { Worker } from 'node:worker_threads';
import type { z } from 'zod';
import { describeError, hasCode } from '../errors.ts';
import { createSemaphore } from '../semaphore.ts';
import { withTimeout } from '../time.ts';
import { refusalOf } from './limits.ts';
import type { ThreadAnswer, ThreadMessage } from './parser-thread.ts';

export type Bounds = {
  readonly parseMs?: number;
  readonly memoryMiB?: number;
  /** For other mails to be parsed. */
  readonly waitMs?: number;
};

type BoundedParserParts<S extends z.ZodType> = Bounds & {
  /** The module that the thread runs: it calls `serveParser`. */
  readonly module: URL;
  /** Its `workerData`. */
  readonly data?: unknown;
  /** What a parse comes to. */
  readonly result: S;
};

/** `refused` is final for these bytes: they break a bound, or are no mail. What is `unavailable` may be parsed later as it is: what takes too long
 *  may do so because the machine is busy. */
export type Parsed<T> =
  | { readonly kind: 'parsed'; readonly value: T }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** For starting the thread, which no mail makes longer. */
const startMs = 30_000;
/** At 250 MB a second, which a mail of short lines costs, no more than 5 MB beyond the bound. */
const watchEveryMs = 20;
const mebibyte = 1_048_576;
/** A thread that has kept more than this of a mail's memory is not used again. */
const keptMiB = 32;
/** Of a mail that waits with the thread. */
const smallBytes = 262_144;

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;
const unavailable = (reason: string) => ({ kind: 'unavailable', reason }) as const;

/** @returns a parser that never rejects */
export function createBoundedParser<S extends z.ZodType>(parts: BoundedParserParts<S>) {
  const { module, data, result, parseMs = 5000, memoryMiB = 256, waitMs = 20_000 } = parts;
  // One mail and one thread at a time: the memory of two would not fit beside the service in what its pod has.
  const turns = createSemaphore(1);
  // The thread has the next small one at hand, so that it does not wait while its process is busy.
  const places = createSemaphore(2);
  const tooMuchMemory = refused(`parsing takes more than ${memoryMiB} MiB`);
  const tooLong = unavailable(`parsing takes longer than ${parseMs} ms`);
  let thread: ParserThread | undefined;

  const read = (answer: ThreadAnswer): Parsed<z.output<S>> =>
    answer.kind === 'parsed' ? { kind: 'parsed', value: result.parse(answer.value) } : refused(answer.reason);

  function hand(raw: Buffer) {
    thread = thread?.hasEnded === false ? thread : startThread(module, { data, memoryMiB });
    return { thread, answer: thread.parse(raw) };
  }

  async function inTurn(raw: Buffer, early: ReturnType<typeof hand> | undefined): Promise<Parsed<z.output<S>>> {
    // The limit of the thread is of its heap; postal-mime keeps a line of a body in 2.6 KB outside of it.
    const before = process.memoryUsage.rss();
    const grownMiB = (since: number) => (process.memoryUsage.rss() - since) / mebibyte;
    // A thread that ended with the mail before it has not parsed this one.
    const handed = early?.thread.hasEnded === false ? early : hand(raw);
    const exceeded = Promise.withResolvers<typeof tooMuchMemory>();
    let watch: NodeJS.Timeout | undefined;
    let isUsable = false;
    try {
      const started = await withTimeout(handed.thread.ready, startMs, () => undefined);
      if (!started) return unavailable(`the parser did not start in ${startMs} ms`);
      watch = setInterval(() => grownMiB(before) > memoryMiB && exceeded.resolve(tooMuchMemory), watchEveryMs);
      const parsed = await withTimeout(Promise.race([handed.answer.then(read), exceeded.promise]), parseMs, () => tooLong);
      // What a new thread took for itself is not kept of the mail.
      isUsable = parsed !== tooLong && parsed !== tooMuchMemory && grownMiB(Math.max(before, started.rss)) < keptMiB;
      return parsed;
    } catch (error) {
      return hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? tooMuchMemory : refused(describeError(error));
    } finally {
      clearInterval(watch);
      if (!isUsable) await handed.thread.end();
    }
  }

  /** From the abortion of `stopping` on no parse begins. */
  return async (raw: Buffer, stopping?: AbortSignal): Promise<Parsed<z.output<S>>> => {
    const refusal = refusalOf(raw);
    if (refusal !== undefined) return refused(refusal);
    const busy = unavailable('the parser was busy with other mails');
    if (!(await places.acquire(1, waitMs))) return busy;
    const early = raw.length <= smallBytes && stopping?.aborted !== true ? hand(raw) : undefined;
    if (!(await turns.acquire(1, waitMs))) {
      places.release(1);
      return busy;
    }
    try {
      if (stopping?.aborted !== true) return await inTurn(raw, early);
      await early?.thread.end();
      return unavailable('the parser was stopped');
    } finally {
      turns.release(1);
      places.release(1);
    }
  };
}

type ParserThread = ReturnType<typeof startThread>;

/** It holds no process: what is under way is held by the timer of its deadline. */
function startThread(module: URL, { data, memoryMiB }: { readonly data: unknown; readonly memoryMiB: number }) {
  const worker = new Worker(module, { workerData: data, env: {}, resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 16 } });
  const ready = Promise.withResolvers<{ readonly rss: number }>();
  const answers: PromiseWithResolvers<ThreadAnswer>[] = [];
  let hasEnded = false;
  const fail = (error: Error) => {
    hasEnded = true;
    ready.reject(error);
    for (const { reject } of answers) reject(error);
  };
  ready.promise.catch(() => undefined); // perhaps nobody waits
  worker.on('message', (message: ThreadMessage) => (message.kind === 'ready' ? ready.resolve(message) : answers.shift()?.resolve(message)));
  worker.once('error', fail).once('exit', (code) => fail(new Error(`the parser ended with ${code}`)));
  worker.unref(); // which a listener undoes
  return {
    ready: ready.promise,
    get hasEnded() {
      return hasEnded;
    },
    /** In the order in which they are given. */
    parse(raw: Buffer): Promise<ThreadAnswer> {
      const answer = Promise.withResolvers<ThreadAnswer>();
      answer.promise.catch(() => undefined); // likewise
      answers.push(answer);
      const bytes = new Uint8Array(raw);
      worker.postMessage(bytes, [bytes.buffer]);
      return answer.promise;
    },
    end: () => worker.terminate(),
  };
}
