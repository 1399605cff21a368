// One request and its answer on their way through the app.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressOf } from './client-address.ts';

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** As it was sent: percent-encoded, without the query. */
  readonly path: string;
  readonly querystring: string;
  readonly requestId: string;
  /** `performance.now()` when the head was read. */
  readonly startedAtMs: number;
  /** Sent with whatever is answered. */
  readonly headers: Record<string, string>;
  /** Template of the route that took the request. */
  route: string | undefined;
  /** What was answered; a caller may have gone before it could read it. */
  status: number;
};

const givenId = /^[\w.-]{1,64}$/;
/** Requests may name the whole URL, RFC 9112 section 3.2.2. */
const beforePath = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i;

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const { method = '', url = '' } = request;
  const target = url.startsWith('/') ? url : url.replace(beforePath, '');
  const mark = target.indexOf('?');
  const given = request.headers['x-request-id'];
  const requestId = typeof given === 'string' && givenId.test(given) ? given : randomUUID();
  return {
    request,
    response,
    method,
    path: (mark === -1 ? target : target.slice(0, mark)) || '/',
    querystring: mark === -1 ? '' : target.slice(mark + 1),
    requestId,
    startedAtMs: performance.now(),
    headers: { 'X-Request-Id': requestId },
    route: undefined,
    status: 0,
  };
}

export function clientAddress({ request }: Exchange, addressOf: AddressOf = (address) => address): string {
  const forwarded = request.headers['x-forwarded-for'];
  return addressOf(request.socket.remoteAddress ?? '', Array.isArray(forwarded) ? forwarded.join(', ') : forwarded);
}
