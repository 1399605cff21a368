// A body as raw bytes: counted while it streams, cut off when too long or too slow, within the memory that bodies share.
import type { IncomingMessage } from 'node:http';
import { Common, type Problem } from '../problem.ts';
import type { BodyShare } from './body-memory.ts';
import type { RawBody } from './route.ts';

/** The bytes, or the value parsed of them, and the release of the memory they were counted against. */
export type Body = { readonly value: unknown; readonly release: () => void };

export const bodyTooLarge = (maxBytes: number): Problem => Common.tooLarge({ detail: `The body is larger than ${maxBytes} bytes.` });

const noRoom = () => Common.unavailable({ detail: 'Too many large requests at once.', headers: { 'Retry-After': '5' } });
const tooSlow = () => Common.timeout({ detail: 'The body did not arrive in time.', headers: { Connection: 'close' } });
const interrupted = () => Common.malformed({ detail: 'The request was interrupted.' });

/**
 * Above this a body goes into its place as it comes, where its length is known: joined at the end it would be in memory twice, and its
 * chunks until the next full garbage collection. What is announced and does not come is address space only.
 */
const largeBytes = 1_048_576;

const unlimited: BodyShare = { take: () => true, wait: () => Promise.resolve(), complete: () => undefined, release: () => undefined };

/** @throws Problem 413, 408, or 503 with Retry-After when there is no memory in time */
export function readRaw(request: IncomingMessage, { maxBytes, timeoutMs, memory }: RawBody): Promise<Body> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    let chunks: Buffer[] = [];
    let target: Buffer | undefined;
    let length = 0;
    let hasWaited = false;
    let waitTimer: NodeJS.Timeout | undefined;
    const share = memory?.shared.open(() => refuse(noRoom())) ?? unlimited;

    function finish(): void {
      clearTimeout(timer);
      clearTimeout(waitTimer);
      request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
    }
    function refuse(problem: Problem): void {
      finish();
      share.release();
      reject(problem);
    }
    /** A chunk per connection is in memory uncharged; the rest of its body stays unread. */
    async function waitForRoom(bytes: number, waitMs: number): Promise<void> {
      hasWaited = true;
      request.pause();
      waitTimer = setTimeout(() => refuse(noRoom()), waitMs);
      await share.wait(bytes);
      clearTimeout(waitTimer);
      request.resume();
    }
    function keep(chunk: Buffer): void {
      if (target) return void chunk.copy(target, length - chunk.length);
      chunks.push(chunk);
      if (length <= largeBytes || declared <= largeBytes) return;
      target = Buffer.allocUnsafeSlow(declared);
      Buffer.concat(chunks).copy(target);
      chunks = [];
    }
    function onData(chunk: Buffer): void {
      length += chunk.length;
      if (length > maxBytes) return refuse(bodyTooLarge(maxBytes));
      keep(chunk);
      if (!share.take(chunk.length)) void waitForRoom(chunk.length, memory?.waitMs ?? 0);
    }
    function onEnd(): void {
      finish();
      share.complete();
      const [only] = chunks;
      resolve({ value: target ?? (only && chunks.length === 1 ? only : Buffer.concat(chunks)), release: share.release }); // one chunk is not copied
    }
    const onClose = () => refuse(interrupted());
    const timer = setTimeout(() => refuse(hasWaited ? noRoom() : tooSlow()), timeoutMs);
    if (request.destroyed) return onClose(); // no event would ever end the reading
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}
