// A listening HTTP server that drains: requests in work finish, idle connections are swept, the rest is cut at the deadline.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';

export type Listening = { readonly port: number; readonly address: string; close(): Promise<void> };

/** Above the idle time of common load balancers, so that they close first and never write into a closing connection. */
const keepAliveMs = 95_000;
/** A caller that takes nothing of its answer for so long is disconnected; every handler answers sooner. */
const silentMs = 120_000;
const sweepMs = 100;
const headersMs = 20_000;

export type ListenOptions = {
  readonly port: number;
  /** Default: all addresses, IPv6 and IPv4. */
  readonly host?: string;
  /** Requests in work get this long after close() began. */
  readonly drainMs?: number;
  /** A whole request, head and body, must have arrived within it. */
  readonly requestMs?: number;
  /** Whether the method LIST is taken, as GET with `list=true`: clients of Vault list by it. */
  readonly takesList?: boolean;
  /** How long a body is read on after its answer, where the connection ends with that answer. */
  readonly lingerMs?: number;
};

/** Above the largest body that a sender of ours or of a forge sends. */
const lingerBytes = 128 * 1024 * 1024;
const lingerSilenceMs = 5000;

export async function listen(
  handle: RequestListener,
  { port, host, drainMs = 12_000, requestMs = 60_000, lingerMs = 30_000, takesList = false }: ListenOptions,
): Promise<Listening> {
  const handler = oneAtATime(lingering(handle, lingerMs));
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: 2000,
      noDelay: true,
      // A credential given twice is refused, as a proxy before us may have read either; joined by a comma they match nothing.
      joinDuplicateHeaders: true,
    },
    handler,
  );
  // The app sends 100 Continue once it has accepted the head.
  server.on('checkContinue', handler);
  if (takesList) takeList(server);
  server.setTimeout(silentMs);
  server.listen({ port, ...(host !== undefined && { host }), backlog: 1024 });
  await once(server, 'listening');
  const address = server.address() as AddressInfo; // a TCP server, listening
  let closing: Promise<void> | undefined;
  return {
    port: address.port,
    address: address.address,
    close: () => (closing ??= drain(server, drainMs)),
  };
}

/**
 * node:http refuses a method that it does not know, before any handler. LIST becomes LINK, of the same length, in the bytes that arrive between
 * two requests, and its request a GET.
 */
function takeList(server: Server): void {
  const newest = new WeakMap<Socket, IncomingMessage>();
  const note = (request: IncomingMessage) => {
    newest.set(request.socket, request);
    if (request.method !== 'LINK') return;
    request.method = 'GET';
    request.url = `${request.url}${request.url?.includes('?') === true ? '&' : '?'}list=true`;
  };
  server.prependListener('request', note).prependListener('checkContinue', note);
  server.on('connection', (socket) => {
    socket.prependListener('data', (chunk: Buffer) => {
      if (newest.get(socket)?.complete !== false && chunk.toString('latin1', 0, 6) === 'LIST /') chunk.write('LINK', 'latin1');
    });
  });
}

/** Pipelined requests run one at a time, so an unread connection costs one answer. Requests after the last answer of a connection are dropped. */
function oneAtATime(handler: RequestListener): RequestListener {
  const answers = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const before = answers.get(request.socket);
    answers.set(request.socket, response);
    const run = () => request.socket.writableEnded || handler(request, response);
    if (!before || before.closed) run();
    else before.once('close', run);
  };
}

/**
 * Where a connection ends with an answer and the body of its request is still coming, the body is read on and dropped, bounded in bytes
 * and time: a connection closed at once is reset, and its sender never reads the answer. RFC 9112 section 9.6.
 */
function lingering(handler: RequestListener, lingerMs: number): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const destroySoon = socket.destroySoon.bind(socket);
    // node:http calls it after the last answer of a connection.
    socket.destroySoon = () => {
      if (request.complete || socket.destroyed) return destroySoon();
      socket.end();
      dropBody(request, lingerMs, destroySoon);
    };
    response.once('close', () => {
      // Put back, it would be bound once more for each request of the connection.
      if (!socket.writableEnded) Reflect.deleteProperty(socket, 'destroySoon');
    });
    handler(request, response);
  };
}

/** Ends the connection when the body ends, or too much or too little of it comes. */
function dropBody(request: IncomingMessage, lingerMs: number, end: () => void): void {
  const { socket } = request;
  const startedAt = performance.now();
  const read = { first: socket.bytesRead, last: socket.bytesRead, at: startedAt };
  const look = setInterval(() => {
    const now = performance.now();
    if (socket.bytesRead > read.last) Object.assign(read, { last: socket.bytesRead, at: now });
    if (now - startedAt > lingerMs || now - read.at > lingerSilenceMs || read.last - read.first > lingerBytes) socket.destroy();
  }, 100);
  request.once('end', end).resume();
  socket.once('close', () => clearInterval(look));
}

/**
 * Takes no new connection. A kept-alive one ends with its next answer, or is closed when it is idle; http's own close() ends those that
 * are idle at this moment, under callers whose next request is on its way.
 */
function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    // After a pause of the process requests that arrived are read first: their connections are not idle.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), sweepMs);
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      server.close(() => resolve()); // ends http's own timers; the socket is closed already
    });
  });
}
