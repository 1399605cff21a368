// Reads a request's body: JSON, the raw bytes within the memory that bodies share, or a stream.
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { parseJson } from '../json.ts';
import { Common, Problem } from '../problem.ts';
import type { RawBody, Schema, Streamed, StreamedBody } from './route.ts';

/** The parsed JSON, the bytes or what gives them, and the release of the memory that bytes were counted against. */
type Body = { readonly value: unknown; readonly release?: () => void };

const jsonBytes = 1_048_576;

export function createBodyReader(body: Schema | RawBody | StreamedBody, maxBytes = jsonBytes): (context: Context) => Promise<Body> {
  if ('kind' in body)
    return async (context) => {
      const mediaType = admitBody(context, body.mediaTypes, body);
      if (body.kind === 'raw') return readRaw(context.req, body);
      return { value: { mediaType, bytes: Readable.from(bytesOf(context.req, body), { objectMode: false }) } satisfies Streamed };
    };
  const readJson = createJsonReader(maxBytes);
  return async (context) => {
    admitBody(context, ['application/json'], { maxBytes });
    return { value: await readJson(context) };
  };
}

const bodyTooLarge = (maxBytes: number): Problem => Common.tooLarge({ detail: `The body is larger than ${maxBytes} bytes.` });

const noRoom = () => Common.unavailable({ detail: 'Too many large requests at once.', headers: { 'Retry-After': '5' } });
const tooSlow = () => Common.timeout({ detail: 'The body did not arrive in time.', headers: { Connection: 'close' } });
const interrupted = () => Common.malformed({ detail: 'The request was interrupted.' });

type Admission = { readonly maxBytes: number; readonly isTypeOptional?: true };

const cameAs = (type: string | undefined) => (type ? `not ${type.slice(0, 100)}` : 'and came without a Content-Type');

/** Checks the head, before a byte of the body is asked for. @returns which of the media types it is */
function admitBody({ req, res }: Context, mediaTypes: readonly string[], { maxBytes, isTypeOptional }: Admission): string {
  // Parameters such as a charset are not looked at. RFC 9110 section 8.3.
  const type = req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  const isUntyped = type === undefined && isTypeOptional;
  const taken = isUntyped ? '' : mediaTypes.find((one) => one === type || (one === 'application/json' && type?.endsWith('+json')));
  if (taken === undefined) throw Common.mediaType({ detail: `The body must be ${mediaTypes.join(' or ')}, ${cameAs(type)}.` });
  // No coding is undone, so that a body's bytes are what is counted and what is signed. RFC 9110 section 15.5.16.
  const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (coding !== '' && coding !== 'identity')
    throw Common.mediaType({ detail: 'The body must come without a Content-Encoding.', headers: { 'Accept-Encoding': 'identity' } });
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  // A client that waits to be asked for its body, RFC 9110 section 10.1.1; as node:http looks for it.
  if (/\b100-continue\b/i.test(req.headers.expect ?? '')) res.writeContinue();
  return taken;
}

/**
 * koa-body reads text of one character a byte, and `parseJson` makes JSON of those bytes: koa-body's own JSON would put U+FFFD for what is
 * no UTF-8, and keep another secret than the one that was sent.
 */
function createJsonReader(maxBytes: number): (context: Context) => Promise<unknown> {
  let reader: Promise<Middleware> | undefined;
  return async (context) => {
    const readText = await (reader ??= createTextReader(maxBytes));
    await readText(context, () => Promise.resolve());
    const { body = '' } = context.request as { body?: string }; // put there by koa-body
    return parseJson(Buffer.from(body, 'latin1'));
  };
}

/** Loads koa-body with the first body that it reads: it takes 3 MiB, and a relay reads none by it. */
async function createTextReader(maxBytes: number): Promise<Middleware> {
  const { koaBody } = await import('koa-body');
  return koaBody({
    text: true,
    textLimit: maxBytes,
    textTypes: ['json', '+json'],
    encoding: 'latin1',
    json: false,
    urlencoded: false,
    multipart: false,
    onError: (error, { req }) => {
      const status = 'status' in error ? error.status : undefined;
      if (status === 413) throw bodyTooLarge(maxBytes);
      throw status === 400 || req.destroyed ? interrupted() : error;
    },
  });
}

/** The request survives a reader that stops early: its answer is still to be sent. */
async function* bytesOf(request: IncomingMessage, { maxBytes }: StreamedBody): AsyncGenerator<Buffer> {
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // no encoding is set on it
      length += chunk.length;
      if (length > maxBytes) throw bodyTooLarge(maxBytes);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof Problem ? error : interrupted();
  } finally {
    // The iterator had it paused: what its reader left would hold up the next request on the connection.
    request.resume();
  }
}

/**
 * Above this a body goes into its place as it comes, where its length is known: joined at the end it would be in memory twice, and its
 * chunks until the next full garbage collection. Bytes that are announced and do not come take address space only.
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
