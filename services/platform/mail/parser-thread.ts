// The thread's side of a bounded parser: reports that its code is loaded, then parses one mail after the other.
import { parentPort } from 'node:worker_threads';
import PostalMime from 'postal-mime';
import { describeError } from '../errors.ts';
import { JoinedParts } from './joined-parts.ts';
import { takeWholeBodies } from './whole-bodies.ts';

/** The parsed value, or the reason of a refusal. */
export type ThreadAnswer = { readonly kind: 'parsed'; readonly value: unknown } | { readonly kind: 'refused'; readonly reason: string };
/** `rss` is the memory of the whole process in bytes before the first mail. */
export type ThreadMessage = { readonly kind: 'ready'; readonly rss: number } | ThreadAnswer;

/** A mail for the thread, and what to do with it, where the thread can do several things. */
export type ThreadRequest = { readonly raw: Uint8Array; readonly task: unknown };

/** Called once by the module that the thread runs. @param parse an error that it throws refuses the mail */
export function serveParser(parse: (raw: Uint8Array, task: unknown) => Promise<unknown>): void {
  // Nothing else in the thread makes a Blob.
  Object.assign(globalThis, { Blob: JoinedParts });
  takeWholeBodies(PostalMime.prototype);
  const say = (message: ThreadMessage) => parentPort?.postMessage(message);
  async function answer({ raw, task }: ThreadRequest): Promise<void> {
    try {
      say({ kind: 'parsed', value: await parse(raw, task) });
    } catch (error) {
      say({ kind: 'refused', reason: describeError(error) });
    }
  }
  let last = Promise.resolve();
  parentPort?.on('message', (request: ThreadRequest) => {
    last = last.then(() => answer(request));
  });
  say({ kind: 'ready', rss: process.memoryUsage.rss() });
}
