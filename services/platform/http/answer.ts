// Puts an answer or a refusal on the wire.
import { Readable, pipeline } from 'node:stream';
import type { Exchange } from './exchange.ts';
import { isUnread, lingering } from './linger.ts';
import type { OpenApiParts } from './openapi.ts';
import type { Problem } from '../problem.ts';
import { Answer, Content } from './route.ts';

/** How a service words its refusals: problem documents, or an envelope of its own. */
export type Refusals = OpenApiParts['refusals'] & { readonly render: (problem: Problem) => unknown };

/** Hears of answers that broke off while they were sent. */
export type OnBroken = (error: NodeJS.ErrnoException, exchange: Exchange) => void;

type Whole = { readonly status: number; readonly mediaType: string; readonly data: string | Buffer };

export function sendAnswer(exchange: Exchange, returned: unknown, onBroken: OnBroken): void {
  const { status, body, headers } = returned instanceof Answer ? (returned as Answer) : new Answer(200, returned, noHeaders);
  Object.assign(exchange.headers, headers);
  exchange.status = status;
  if (body instanceof Content) {
    const { mediaType, data } = body;
    if (data instanceof Readable) sendStream(exchange, { mediaType, data }, onBroken);
    else sendWhole(exchange, { status, mediaType, data });
  } else if (body === null || body === undefined) sendNothing(exchange);
  else sendWhole(exchange, { status, mediaType: 'application/json; charset=utf-8', data: JSON.stringify(body) });
}

export function sendProblem(exchange: Exchange, problem: Problem, { mediaType, render }: Pick<Refusals, 'mediaType' | 'render'>): void {
  const { response, headers } = exchange;
  const { status } = problem;
  exchange.status = status; // also when nobody is left to read it: the access line has it
  if (response.headersSent) return void response.destroy();
  Object.assign(headers, problem.headers);
  sendWhole(exchange, { status, mediaType, data: JSON.stringify(render(problem)) });
}

const noHeaders = {};

function sendWhole(exchange: Exchange, { status, mediaType, data }: Whole): void {
  const { response, headers } = exchange;
  headers['Content-Type'] = mediaType;
  headers['Content-Length'] = String(Buffer.byteLength(data));
  if (isUnread(exchange)) lingering(exchange, () => response.writeHead(status, headers).write(data));
  else response.writeHead(status, headers).end(data);
}

function sendNothing({ response, headers, status }: Exchange): void {
  if (status !== 204 && status !== 304) headers['Content-Length'] = '0';
  response.writeHead(status, headers).end();
}

function sendStream(exchange: Exchange, { mediaType, data }: { mediaType: string; data: Readable }, onBroken: OnBroken): void {
  const { response, headers, status, method } = exchange;
  headers['Content-Type'] = mediaType;
  response.writeHead(status, headers);
  if (method === 'HEAD') {
    data.destroy();
    response.end();
    return;
  }
  // A failing stream destroys the connection: half an answer must not look whole.
  pipeline(data, response, (error) => {
    if (error) onBroken(error, exchange);
  });
}
