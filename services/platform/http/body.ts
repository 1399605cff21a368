// Reads a request's body: JSON by koa-body, or the raw bytes within the memory that bodies share.
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { Common, type Problem } from '../problem.ts';
import type { RawBody, Schema } from './route.ts';

/** The parsed JSON or the bytes, and the release of the memory that bytes were counted against. */
type Body = { readonly value: unknown; readonly release?: () => void };

const jsonBytes = 1_048_576;

export function createBodyReader(body: Schema | RawBody, maxBytes = jsonBytes): (context: Context) => Promise<Body> {
  if ('kind' in body)
    return (context) => {
      admitBody(context, body.mediaTypes, body.maxBytes);
      return readRaw(context.req, body);
    };
  const parse = createJsonParser(maxBytes);
  return async (context) => {
    admitBody(context, ['application/json'], maxBytes);
    return { value: await parse(context) };
  };
}

const bodyTooLarge = (maxBytes: number): Problem => Common.tooLarge({ detail: `The body is larger than ${maxBytes} bytes.` });

const invalidJson = () => Common.malformed({ detail: 'The body is not valid JSON.' });
const noRoom = () => Common.unavailable({ detail: 'Too many large requests at once.', headers: { 'Retry-After': '5' } });
const tooSlow = () => Common.timeout({ detail: 'The body did not arrive in time.', headers: { Connection: 'close' } });
const interrupted = () => Common.malformed({ detail: 'The request was interrupted.' });

/** What its head alone refuses, before a byte of it is asked for. */
function admitBody({ req, res }: Context, mediaTypes: readonly string[], maxBytes: number): void {
  // Parameters such as a charset are not looked at. RFC 9110 section 8.3.
  const type = req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const isTaken = mediaTypes.some((one) => one === type || (one === 'application/json' && type?.endsWith('+json')));
  if (!isTaken) throw Common.mediaType({ detail: `The body must be ${mediaTypes.join(' or ')}.` });
  // No coding is undone, so that a body's bytes are what is counted and what is signed. RFC 9110 section 15.5.16.
  const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding !== '' && coding !== 'identity')
    throw Common.mediaType({ detail: 'The body must come without a Content-Encoding.', headers: { 'Accept-Encoding': 'identity' } });
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  // A client that waits to be asked for its body, RFC 9110 section 10.1.1; as node:http looks for it.
  if (/\b100-continue\b/i.test(req.headers.expect ?? '')) res.writeContinue();
}

function createJsonParser(maxBytes: number): (context: Context) => Promise<unknown> {
  const parse = koaBody({
    jsonLimit: maxBytes,
    jsonStrict: false,
    jsonTypes: ['json', '+json'],
    urlencoded: false,
    text: false,
    multipart: false,
    // Its error holds the whole body: nothing of it but the status goes any further.
    onError: (error, { req }) => {
      const status = 'status' in error ? error.status : undefined;
      if (status === 413) throw bodyTooLarge(maxBytes);
      if (status === 400 || req.destroyed) throw invalidJson();
      throw new Error(`the body could not be read: ${error.name}`);
    },
  });
  return async (context) => {
    const isUtf8 = watchUtf8(context.req);
    await parse(context, () => Promise.resolve());
    const { body } = context.request as { body?: unknown }; // put there by koa-body; a scalar is a body, too
    if (body === undefined || body === '' || !isUtf8()) throw invalidJson();
    return body;
  };
}

/**
 * Whether what came until now is UTF-8 without a byte order mark, as JSON has to be (RFC 8259 section 8.1). koa-body would put
 * U+FFFD for bytes that are none, and keep another secret than the one that was sent.
 */
function watchUtf8(request: IncomingMessage): () => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let first = '';
  let isUtf8 = true;
  request.on('data', (chunk: Buffer) => {
    if (!isUtf8) return;
    try {
      const text = decoder.decode(chunk, { stream: true });
      first ||= text.charAt(0);
    } catch {
      isUtf8 = false;
    }
  });
  return () => isUtf8 && first !== '\uFEFF';
}

/**
 * Above this a body goes into its place as it comes, where its length is known: joined at the end it would be in memory twice, and its
 * chunks until the next full garbage collection. What is announced and does not come is address space only.
 */
const preallocateAboveBytes = 1_048_576;

/** @throws Problem 413, 408, or 503 with Retry-After when there is no memory in time */
function readRaw(request: IncomingMessage, { maxBytes, timeoutMs, memory }: RawBody): Promise<Body> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0);
    let chunks: Buffer[] = [];
    let target: Buffer | undefined;
    let length = 0;
    let hasWaited = false;
    let waitTimer: NodeJS.Timeout | undefined;
    const share = memory?.shared.open(() => refuse(noRoom()));

    function finish(): void {
      clearTimeout(timer);
      clearTimeout(waitTimer);
      request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
    }
    function refuse(problem: Problem): void {
      finish();
      share?.release();
      reject(problem);
    }
    /** A chunk per connection is in memory uncharged; the rest of its body stays unread. */
    async function waitFor(room: Promise<void>): Promise<void> {
      hasWaited = true;
      request.pause();
      waitTimer = setTimeout(() => refuse(noRoom()), memory?.waitMs);
      await room;
      clearTimeout(waitTimer);
      request.resume();
    }
    function keep(chunk: Buffer): void {
      if (target) return void chunk.copy(target, length - chunk.length);
      chunks.push(chunk);
      if (length <= preallocateAboveBytes || declared <= preallocateAboveBytes) return;
      target = Buffer.allocUnsafeSlow(declared);
      Buffer.concat(chunks).copy(target);
      chunks = [];
    }
    function onData(chunk: Buffer): void {
      length += chunk.length;
      if (length > maxBytes) return refuse(bodyTooLarge(maxBytes));
      keep(chunk);
      const room = share?.take(chunk.length);
      if (room) void waitFor(room);
    }
    function onEnd(): void {
      finish();
      share?.complete();
      const [only] = chunks;
      resolve({ value: target ?? (only && chunks.length === 1 ? only : Buffer.concat(chunks)), release: () => share?.release() }); // one chunk is not copied
    }
    const onClose = () => refuse(interrupted());
    const timer = setTimeout(() => refuse(hasWaited ? noRoom() : tooSlow()), timeoutMs);
    if (request.destroyed) return onClose(); // no event would ever end the reading
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}
