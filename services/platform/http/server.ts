// A listening HTTP server that drains: requests in work finish, idle connections are swept, the rest is cut at the deadline.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';

export type Listening = { readonly port: number; readonly address: string; close(): Promise<void> };

/** Above the idle time of common load balancers, so that they close first and never write into a closing connection. */
const keepAliveMs = 95_000;
/** A caller that takes nothing of its answer for so long is given up. Whatever is answered, is answered sooner. */
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
};

export async function listen(handle: RequestListener, { port, host, drainMs = 12_000, requestMs = 60_000 }: ListenOptions): Promise<Listening> {
  const handler = oneAtATime(handle);
  const server = createServer(
    {
      keepAliveTimeout: keepAliveMs,
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      connectionsCheckingInterval: 2000,
      noDelay: true,
      // A credential that is given twice is none: which one a proxy before us reads is anybody's guess. Joined they match nothing.
      joinDuplicateHeaders: true,
    },
    handler,
  );
  // The app asks for the body when nothing speaks against it.
  server.on('checkContinue', handler);
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

/** Of the requests that a connection pipelines each waits for the answer before it: one that is not read is made once, not as often as it was asked for. */
function oneAtATime(handler: RequestListener): RequestListener {
  const answers = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const before = answers.get(request.socket);
    answers.set(request.socket, response);
    if (!before || before.closed) handler(request, response);
    else before.once('close', () => handler(request, response));
  };
}

/**
 * Takes no new connection from now on. One that is kept alive is told in its next answer that it ends, or is swept when it is
 * idle; http's own close() ends those that are idle this moment, under callers whose next request is on its way.
 */
function drain(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    // A process that was held up reads first what has arrived meanwhile: its connection is not idle.
    const sweep = setInterval(() => setImmediate(() => server.closeIdleConnections()), sweepMs);
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    NetServer.prototype.close.call(server, () => {
      clearInterval(sweep);
      clearTimeout(cut);
      server.close(() => resolve()); // ends http's own timers; the socket is closed already
    });
  });
}
