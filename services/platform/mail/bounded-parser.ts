// Parses untrusted mails within bounds: costly mails are refused unparsed, and the parser runs in a thread that is ended when it takes too long
// or too much memory. postal-mime takes 38 s for 9 MB of empty parts.
import { Worker } from 'node:worker_threads';
import type { z } from 'zod';
import { describeError, hasCode } from '../errors.ts';
import { createSemaphore } from '../semaphore.ts';
import { withTimeout } from '../time.ts';
import { refusalOf } from './limits.ts';
import type { ThreadAnswer, ThreadMessage, ThreadRequest } from './parser-thread.ts';

export type Bounds = {
  readonly parseMs?: number;
  readonly memoryMiB?: number;
  /** How long a mail waits for others to be parsed. */
  readonly waitMs?: number;
};

type BoundedParserParts<S extends z.ZodType> = Bounds & {
  /** The module that the thread runs: it calls `serveParser`. */
  readonly module: URL;
  /** The thread's `workerData`. */
  readonly data?: unknown;
  /** The schema of a parsed mail. */
  readonly result: S;
};

/** `refused` is final for these bytes: they exceed a bound, or are no mail. After `unavailable` the same bytes may be parsed later, since a busy machine
 *  may be the reason. */
export type Parsed<T> =
  | { readonly kind: 'parsed'; readonly value: T }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

/** For the start of the thread, which does not depend on the mail. */
const startMs = 30_000;
/** A mail of short lines takes some 600 MB a second, so this exceeds the bound by about 12 MB. */
const watchEveryMs = 20;
const mebibyte = 1_048_576;
/** A thread that keeps more memory than this after a mail is not used again. */
const keptMiB = 32;
/** The largest mail that waits in the thread. */
const smallBytes = 262_144;

const refused = (reason: string) => ({ kind: 'refused', reason }) as const;
const unavailable = (reason: string) => ({ kind: 'unavailable', reason }) as const;

export type ParseOptions = {
  /** The second argument of the thread's `parse`. */
  readonly task?: unknown;
  /** How long this mail waits for others, instead of the parser's own. */
  readonly waitMs?: number;
};

/** A mail that waits for its turn. */
type Waiting = {
  readonly raw: Buffer;
  readonly task: unknown;
  readonly stopping: AbortSignal | undefined;
  /** When it gives up, by `performance.now()`. */
  readonly deadline: number;
  /** The thread that was given it ahead of its turn. */
  early: { readonly thread: ParserThread; readonly answer: Promise<ThreadAnswer> } | undefined;
};

/** @returns a parser that never rejects */
export function createBoundedParser<S extends z.ZodType>(parts: BoundedParserParts<S>) {
  const { module, data, result, parseMs = 5000, memoryMiB = 256, waitMs = 20_000 } = parts;
  // One mail and one thread at a time: the pod has no memory for two.
  const turns = createSemaphore(1);
  // The thread already holds the next small mails, so that it does not wait while its process is busy with those that it has parsed.
  const places = createSemaphore(8);
  /** In the order of their turns. */
  const waiting = new Set<Waiting>();
  const tooMuchMemory = refused(`parsing takes more than ${memoryMiB} MiB`);
  const tooLong = unavailable(`parsing takes longer than ${parseMs} ms`);
  let thread: ParserThread | undefined;

  const read = (answer: ThreadAnswer): Parsed<z.output<S>> =>
    answer.kind === 'parsed' ? { kind: 'parsed', value: result.parse(answer.value) } : refused(answer.reason);

  function hand(raw: Buffer, task: unknown) {
    thread = thread?.hasEnded === false ? thread : startThread(module, { data, memoryMiB });
    return { thread, answer: thread.parse(raw, task) };
  }

  /**
   * Gives the thread the mails that it parses next, each in its turn and at its own cost. It stops at a large one, and at one that may give up
   * before its turn: the thread would parse that at the cost of the next.
   */
  function handAhead(): void {
    let longestMs = 0;
    for (const one of waiting) {
      longestMs += parseMs;
      if (one.early?.thread.hasEnded === false) continue;
      if (one.raw.length > smallBytes || one.stopping?.aborted === true || one.deadline - performance.now() < longestMs) return;
      one.early = hand(one.raw, one.task);
    }
  }

  async function inTurn({ raw, task, early }: Waiting): Promise<Parsed<z.output<S>>> {
    // The thread's limit counts its heap only; postal-mime keeps bodies outside of it.
    const before = process.memoryUsage.rss();
    const grownMiB = (since: number) => (process.memoryUsage.rss() - since) / mebibyte;
    // A thread that ended during the previous mail has not parsed this one.
    const handed = early?.thread.hasEnded === false ? early : hand(raw, task);
    handAhead();
    const exceeded = Promise.withResolvers<typeof tooMuchMemory>();
    let watch: NodeJS.Timeout | undefined;
    let isUsable = false;
    try {
      const started = await withTimeout(handed.thread.ready, startMs, () => undefined);
      if (!started) return unavailable(`the parser did not start in ${startMs} ms`);
      watch = setInterval(() => grownMiB(before) > memoryMiB && exceeded.resolve(tooMuchMemory), watchEveryMs);
      const parsed = await withTimeout(Promise.race([handed.answer.then(read), exceeded.promise]), parseMs, () => tooLong);
      // Memory that a new thread took for itself does not count.
      isUsable = parsed !== tooLong && parsed !== tooMuchMemory && grownMiB(Math.max(before, started.rss)) < keptMiB;
      return parsed;
    } catch (error) {
      return hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? tooMuchMemory : refused(describeError(error));
    } finally {
      clearInterval(watch);
      if (!isUsable) await handed.thread.end();
    }
  }

  /** No parse begins once `stopping` is aborted. */
  return async (raw: Buffer, stopping?: AbortSignal, { task, waitMs: longestMs = waitMs }: ParseOptions = {}): Promise<Parsed<z.output<S>>> => {
    const refusal = refusalOf(raw);
    if (refusal !== undefined) return refused(refusal);
    const busy = unavailable('the parser was busy with other mails');
    const deadline = performance.now() + longestMs;
    if (!(await places.acquire(1, longestMs))) return busy;
    const mail: Waiting = { raw, task, stopping, deadline, early: undefined };
    waiting.add(mail);
    handAhead();
    const hasTurn = await turns.acquire(1, Math.max(deadline - performance.now(), 0));
    waiting.delete(mail);
    if (!hasTurn) {
      places.release(1);
      return busy;
    }
    try {
      if (stopping?.aborted !== true) return await inTurn(mail);
      await mail.early?.thread.end();
      return unavailable('the parser was stopped');
    } finally {
      turns.release(1);
      places.release(1);
    }
  };
}

type ParserThread = ReturnType<typeof startThread>;

/** It does not keep the process alive; the timer of its deadline does while a mail is parsed. */
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
  ready.promise.catch(() => undefined); // there may be no listener
  worker.on('message', (message: ThreadMessage) => (message.kind === 'ready' ? ready.resolve(message) : answers.shift()?.resolve(message)));
  worker.once('error', fail).once('exit', (code) => fail(new Error(`the parser ended with ${code}`)));
  worker.unref(); // after the listeners, which would undo it
  return {
    ready: ready.promise,
    get hasEnded() {
      return hasEnded;
    },
    /** Answers come in the order of the calls. */
    parse(raw: Buffer, task: unknown): Promise<ThreadAnswer> {
      const answer = Promise.withResolvers<ThreadAnswer>();
      answer.promise.catch(() => undefined); // as above
      answers.push(answer);
      const bytes = new Uint8Array(raw);
      worker.postMessage({ raw: bytes, task } satisfies ThreadRequest, [bytes.buffer]);
      return answer.promise;
    },
    end: () => worker.terminate(),
  };
}
