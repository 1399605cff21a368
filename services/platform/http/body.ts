// Reads a request's body: counted while it streams, cut off when too long or too slow, within a memory budget.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type BodyLease, createBodyLease, unlimited } from './body-lease.ts';
import { createSink } from './body-sink.ts';
import { Common } from '../problem.ts';
import type { RawBody } from './route.ts';

export type Body = { readonly bytes: Buffer; release(): void };

const tooLarge = (maxBytes: number) => Common.tooLarge({ detail: `The body is larger than ${maxBytes} bytes.` });

const noRoom = () => Common.unavailable({ detail: 'Too many large requests at once.', headers: { 'Retry-After': '5' } });
const interrupted = () => Common.malformed({ detail: 'The request was interrupted.' });

/** Refuses a body whose type is not among `mediaTypes`; parameters such as a charset are not looked at. RFC 9110 section 8.3. */
export function requireMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== undefined && mediaTypes.some((one) => one === type || (one === 'application/json' && type.endsWith('+json')))) return;
  throw Common.mediaType({ detail: `The body must be ${mediaTypes.join(' or ')}.` });
}

/** No coding is undone, so that a body's bytes are what is counted and what is signed. RFC 9110 section 15.5.16. */
export function requirePlain(request: IncomingMessage): void {
  const coding = request.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return;
  throw Common.mediaType({ detail: 'The body must come without a Content-Encoding.', headers: { 'Accept-Encoding': 'identity' } });
}

/** What the request says of its length; undefined when it streams in chunks. */
function declaredLength(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** Asks for the body of a caller that waits to be asked, RFC 9110 section 10.1.1. */
export function goOn(request: IncomingMessage, response: ServerResponse): void {
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) response.writeContinue(); // as node:http looks for it
}

type Spec = Pick<RawBody, 'maxBytes' | 'timeoutMs' | 'memory'> & {
  /** Called when nothing speaks against the body any more, before it is read. */
  readonly goOn?: () => void;
};

/**
 * @returns the bytes, and the release of the memory they were counted against
 * @throws Problem 413, 408, or 503 with Retry-After when the budget has no room in time
 */
export async function readBody(request: IncomingMessage, spec: Spec): Promise<Body> {
  const { maxBytes, timeoutMs, memory } = spec;
  const declared = declaredLength(request);
  if (declared !== undefined && declared > maxBytes) throw tooLarge(maxBytes);
  const lease = memory ? createBodyLease({ ...memory, maxBytes, declared, timeoutMs }) : unlimited;
  try {
    // The caller went away before: no event would ever end the reading.
    if (request.destroyed) throw interrupted();
    spec.goOn?.();
    const bytes = await collect(request, lease, { declared, maxBytes, timeoutMs });
    lease.settle(bytes.length);
    return { bytes, release: () => lease.release() };
  } catch (error) {
    lease.release();
    throw error;
  }
}

const lookEveryMs = 250;

type Limits = Pick<Spec, 'maxBytes' | 'timeoutMs'> & { readonly declared: number | undefined };

function collect(request: IncomingMessage, lease: BodyLease, { declared, maxBytes, timeoutMs }: Limits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sink = createSink(declared, lease.holds);
    let length = 0;
    let isOver = false;
    const finish = (outcome: () => void) => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(watch);
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      outcome();
    };
    const refuse = (problem: Error) => finish(() => reject(problem)); // http-linger.ts drops what still comes
    const timer = setTimeout(() => {
      refuse(lease.wasKeptUp ? noRoom() : Common.timeout({ detail: 'The body did not arrive in time.', headers: { Connection: 'close' } }));
    }, timeoutMs);
    const watch = lease.isLarge ? setInterval(() => lease.isIdle(length) && refuse(noRoom()), lookEveryMs) : undefined;
    const waitForRoom = async () => {
      request.pause();
      const isCovered = await lease.waitFor(length);
      if (isOver) return;
      if (isCovered) request.resume();
      else refuse(noRoom());
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) return refuse(tooLarge(maxBytes));
      sink.add(chunk);
      if (!lease.take(length)) waitForRoom().catch(reject);
    };
    const onEnd = () => finish(() => resolve(sink.whole()));
    const onError = () => finish(() => reject(interrupted()));
    const onClose = onError;
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}
