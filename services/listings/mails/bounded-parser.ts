// Parses mails that anybody may have written, within bounds: what costs too much is refused unread, and the parser runs in a thread
// that is ended when it takes too long or too much memory. postal-mime takes 38 s for 9 MB of empty parts.
import { Worker } from 'node:worker_threads';
import { describeError, hasCode } from '../../platform/errors.ts';
import { createSemaphore } from '../../platform/semaphore.ts';
import { withTimeout } from '../../platform/time.ts';
import { headLength, maxHeadBytes } from './identity.ts';
import { AlertMail, begins } from './parser.ts';

type Bounds = { readonly parseMs?: number; readonly memoryMiB?: number; readonly waitMs?: number };

const maxBoundaryLines = 2000;
/** For starting the thread, which no mail makes longer. */
const startMs = 30_000;
/** At 250 MB a second, which a mail of short lines costs, no more than 5 MB beyond the bound. */
const watchEveryMs = 20;
const mebibyte = 1_048_576;

/** @returns a parser that never rejects: what it refuses is `failed`, with the reason */
export function createBoundedParser(linkPattern: RegExp, { parseMs = 5000, memoryMiB = 128, waitMs = 20_000 }: Bounds = {}) {
  // One thread at a time: the memory of two would not fit beside the service in what its pod has.
  const threads = createSemaphore(1);
  const refused = (reason: string): AlertMail => ({ kind: 'failed', reason });
  const tooMuchMemory = refused(`parsing takes more than ${memoryMiB} MiB`);

  async function inThread(raw: Buffer): Promise<AlertMail> {
    const bytes = new Uint8Array(raw);
    const thread = new Worker(new URL('./parser-thread.ts', import.meta.url), {
      workerData: { raw: bytes, linkPattern },
      transferList: [bytes.buffer],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: 16 },
    });
    const { promise: parsed, resolve, reject } = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<undefined>();
    const fail = (error: Error) => (begun.resolve(undefined), reject(error));
    thread.on('message', (message: unknown) => (message === begins ? begun.resolve(undefined) : resolve(message))).once('error', fail);
    thread.once('exit', (code) => fail(new Error(`the parser ended with ${code}`)));
    // The limit of the thread is of its heap; postal-mime keeps a line of a body in 2.6 KB outside of it.
    const before = process.memoryUsage.rss();
    const watch = setInterval(() => {
      if (process.memoryUsage.rss() - before > memoryMiB * mebibyte) resolve(tooMuchMemory);
    }, watchEveryMs);
    try {
      await withTimeout(begun.promise, startMs, () => fail(new Error(`the parser did not start in ${startMs} ms`)));
      return AlertMail.parse(await withTimeout(parsed, parseMs, () => refused(`parsing takes longer than ${parseMs} ms`)));
    } catch (error) {
      return hasCode(error, 'ERR_WORKER_OUT_OF_MEMORY') ? tooMuchMemory : refused(describeError(error));
    } finally {
      clearInterval(watch);
      await thread.terminate();
    }
  }

  return async (raw: Buffer): Promise<AlertMail> => {
    if (headLength(raw) > maxHeadBytes) return refused(`more than ${maxHeadBytes} bytes of headers`);
    if (hasMoreBoundaryLines(raw, maxBoundaryLines)) return refused(`more than ${maxBoundaryLines} lines that begin as a boundary of parts`);
    if (!(await threads.acquire(1, waitMs))) return refused('the parser was busy with other mails');
    try {
      return await inThread(raw);
    } finally {
      threads.release(1);
    }
  };
}

export type BoundedParser = ReturnType<typeof createBoundedParser>;

function hasMoreBoundaryLines(raw: Buffer, most: number): boolean {
  let lines = 0;
  for (let at = raw.indexOf('\n--'); at >= 0 && lines <= most; at = raw.indexOf('\n--', at + 3)) lines += 1;
  return lines > most;
}
