// Answers a request whose body was not read: what still comes is dropped for a while, so that the caller gets to read the answer.
import type { Exchange } from './exchange.ts';

/** So much is dropped without a word; node:http does it by itself. */
const littleBytes = 65_536;
const mostBytes = 67_108_864;
const mostMs = 5000;
/** A caller that has been silent for so long has read the answer, or never will. */
const silentMs = 1000;

/** Whether more of the body may come than is worth keeping the connection for. */
export function isUnread({ request }: Exchange): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = request.headers;
  if (encoding === undefined && length === undefined) return false;
  // A caller that waits to be asked for its body may send it or not.
  const isLittle = length !== undefined && Number(length) <= littleBytes && expect === undefined;
  return !isLittle && !request.complete && !request.destroyed;
}

/**
 * Sends an answer by `write`, which must say its length, and closes the connection when the caller has stopped sending.
 * Closed at once, the connection would be reset under the caller that sends, and its answer lost with it.
 */
export function lingering({ request, response, headers }: Exchange, write: () => void): void {
  headers['Connection'] = 'close';
  write();
  let dropped = 0;
  const end = () => {
    clearTimeout(latest);
    clearTimeout(silence);
    request.off('data', drop);
    response.end();
  };
  const drop = (chunk: Buffer) => {
    dropped += chunk.length;
    silence.refresh();
    if (dropped > mostBytes) end();
  };
  const latest = setTimeout(end, mostMs);
  const silence = setTimeout(end, silentMs);
  request.on('data', drop).once('end', end).once('close', end);
  request.on('error', () => undefined);
  // A body that waited for memory was paused, and listening alone does not end that.
  request.resume();
}
