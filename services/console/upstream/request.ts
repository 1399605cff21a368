// One HTTP request to a service, on a connection that is kept. Node's `fetch` takes three times as much of the processor, and a page asks several services.
import { Agent as PlainAgent, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { codeOf } from '../../platform/errors.ts';

export type Sent = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Gets how many bytes of a body of bytes are on their way: a service that stores as it reads takes no more than it can store. */
  readonly onSent?: ((bytes: number) => void) | undefined;
  /** For the whole answer. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** The answer of a service once its head is there. */
export type Answered = {
  readonly status: number;
  readonly isOk: boolean;
  /** The value of a header, by its name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** Must be read or destroyed. */
  readonly body: IncomingMessage;
  readonly bytes: () => Promise<Buffer>;
};

export class TimedOut extends Error {}
export class TooLong extends Error {}

/** An answer that is read as a whole; the longest one that a service gives has a tenth of it. */
const mostBytes = 64 * 1024 * 1024;

// A service names the time after which it closes an idle connection; an agent heeds it.
const kept = { keepAlive: true, maxFreeSockets: 32 };
const agents = { 'http:': new PlainAgent(kept), 'https:': new TlsAgent(kept) } as const;

/** Redirects are answers like others. @throws TimedOut, or the error of the connection */
export async function send(url: string, sent: Sent): Promise<Answered> {
  try {
    return await sendOnce(url, sent);
  } catch (error) {
    // The service has closed a kept connection just when it was to be used.
    if (error instanceof StaleConnection && sent.method === 'GET') return sendOnce(url, sent);
    throw error instanceof StaleConnection ? error.cause : error;
  }
}

class StaleConnection extends Error {}

function sendOnce(url: string, { method, headers, body, onSent, timeoutMs, signal }: Sent): Promise<Answered> {
  const isTls = url.startsWith('https:');
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const agent = agents[isTls ? 'https:' : 'http:'];
  const request = (isTls ? tlsRequest : plainRequest)(url, { method, headers, agent, signal });
  let answered: IncomingMessage | undefined;
  const timer = setTimeout(() => {
    const late = new TimedOut(`no answer within ${timeoutMs} ms`);
    // Destroyed by itself, the body of an answer tells its reader.
    (answered ?? request).destroy(late);
  }, timeoutMs);
  request.once('close', () => clearTimeout(timer));
  request.on('error', (error) => {
    const isClosed = ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '');
    const isStale = request.reusedSocket && isClosed && !answered;
    reject(isStale ? new StaleConnection('', { cause: error }) : error);
  });
  request.once('response', (response) => {
    answered = response;
    resolve(answerOf(response));
  });
  if (onSent && body instanceof Uint8Array) {
    request.setHeader('Content-Length', body.length);
    Readable.from(partsOf(body, onSent), { objectMode: false }).pipe(request);
  } else request.end(body);
  return promise;
}

const partBytes = 65_536;

/** A stream asks for the next part once the one before is on its way. */
function* partsOf(body: Uint8Array, onSent: (bytes: number) => void): Generator<Uint8Array> {
  for (let from = 0; from < body.length; from += partBytes) {
    const part = body.subarray(from, from + partBytes);
    yield part;
    onSent(from + part.length);
  }
}

function answerOf(body: IncomingMessage): Answered {
  const { statusCode: status = 0, headers } = body;
  // Its reader, if it has one by then, gets the event as well; unheard, it would end the process.
  body.on('error', () => undefined);
  return {
    status,
    isOk: status >= 200 && status < 300,
    header(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body,
    bytes: () => bytesOf(body),
  };
}

function bytesOf(body: IncomingMessage): Promise<Buffer> {
  // An answer that broke before tells no listener any more.
  if (body.destroyed) return Promise.reject(body.errored ?? new Error('the answer ended before it was read'));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  body.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > mostBytes) body.destroy(new TooLong(`the answer has more than ${mostBytes} bytes`));
    else chunks.push(chunk);
  });
  body.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
  body.once('error', reject);
  body.once('close', () => reject(new Error('the answer ended before its end')));
  return promise;
}
