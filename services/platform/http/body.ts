// Reads a request's body: JSON by koa-body, or the raw bytes.
import type { IncomingMessage } from 'node:http';
import { koaBody } from 'koa-body';
import { Common } from '../problem.ts';
import type { Context } from './access-log.ts';
import { type Body, bodyTooLarge, readRaw } from './raw-body.ts';
import type { RawBody, Schema } from './route.ts';

export type ReadBody = (context: Context) => Promise<Body> | Body;

const jsonBytes = 1_048_576;
const noBody: Body = { value: undefined, release: () => undefined };

export function createBodyReader(body: Schema | RawBody | undefined, maxBytes = jsonBytes): ReadBody {
  if (!body) return () => noBody;
  if ('kind' in body)
    return (context) => {
      admitBody(context, body.mediaTypes, body.maxBytes);
      return readRaw(context.req, body);
    };
  const parse = createJsonParser(maxBytes);
  return async (context) => {
    admitBody(context, ['application/json'], maxBytes);
    return { ...noBody, value: await parse(context) };
  };
}

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

const invalidJson = () => Common.malformed({ detail: 'The body is not valid JSON.' });

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
