// Reads a request's body: counted while it streams, cut off when too long or too slow, within a memory budget.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ByteLease } from './byte-budget.ts';
import { Common } from './problem.ts';
import type { RawBody } from './route.ts';

export type Body = { readonly bytes: Buffer; release(): void };

const noLease: ByteLease = { shrinkTo: () => undefined, release: () => undefined };
const tooLarge = (maxBytes: number) => Common.tooLarge({ detail: `The body is larger than ${maxBytes} bytes.` });

const interrupted = () => Common.malformed({ detail: 'The request was interrupted.' });

/** Refuses a body whose type is not among `mediaTypes`; parameters such as a charset are not looked at. RFC 9110 section 8.3. */
export function requireMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== undefined && mediaTypes.some((one) => one === type || (one === 'application/json' && type.endsWith('+json')))) return;
  throw Common.mediaType({ detail: `The body must be ${mediaTypes.join(' or ')}.` });
}

/** What the request says of its length; undefined when it streams in chunks. */
function declaredLength(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** Asks for the body of a caller that waits to be asked, RFC 9110 section 10.1.1. */
export function goOn(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
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
  const begun = performance.now();
  const declared = declaredLength(request);
  if (declared !== undefined && declared > spec.maxBytes) throw tooLarge(spec.maxBytes);
  const lease = spec.memory ? await spec.memory.budget.acquire(declared ?? spec.maxBytes, spec.memory.waitMs) : noLease;
  if (!lease) throw Common.unavailable({ detail: 'Too many large requests at once.', headers: { 'Retry-After': '5' } });
  try {
    // The caller went away while it waited for room: no event would ever end the reading.
    if (request.destroyed) throw interrupted();
    spec.goOn?.();
    const bytes = await collect(request, createSink(declared), { maxBytes: spec.maxBytes, timeoutMs: spec.timeoutMs - (performance.now() - begun) });
    lease.shrinkTo(bytes.length);
    return { bytes, release: () => lease.release() };
  } catch (error) {
    lease.release();
    throw error;
  }
}

type Sink = { add(chunk: Buffer): void; whole(): Buffer };

const largeBytes = 1_048_576;

/** A large body whose length is known goes into its place at once: joined at the end, it would be in memory twice. */
function createSink(declared: number | undefined): Sink {
  if (declared !== undefined && declared > largeBytes) {
    const target = Buffer.allocUnsafeSlow(declared);
    let length = 0;
    return { add: (chunk) => void (length += chunk.copy(target, length)), whole: () => target.subarray(0, length) };
  }
  const chunks: Buffer[] = [];
  return { add: (chunk) => void chunks.push(chunk), whole: () => (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)) };
}

function collect(request: IncomingMessage, sink: Sink, { maxBytes, timeoutMs }: { maxBytes: number; timeoutMs: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let length = 0;
    const finish = (outcome: () => void) => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      outcome();
    };
    const refuse = (problem: Error) => finish(() => reject(problem)); // http-linger.ts drops what still comes
    const timer = setTimeout(() => {
      refuse(Common.timeout({ detail: 'The body did not arrive in time.', headers: { Connection: 'close' } }));
    }, timeoutMs);
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) refuse(tooLarge(maxBytes));
      else sink.add(chunk);
    };
    const onEnd = () => finish(() => resolve(sink.whole()));
    const onError = () => finish(() => reject(interrupted()));
    const onClose = onError;
    request.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The JSON value of a body, RFC 8259: UTF-8 without a byte order mark, since whoever reads the bytes later may not drop one. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw Common.malformed({ detail: 'The body is not valid JSON.' });
  }
}
