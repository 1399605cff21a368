// A proxy before a real service, which a test can make unavailable; it keeps what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `pass`: to the service; `drop`: the connection breaks off; `hang`: no answer; else an answer in place of the service's. */
export type Fate = 'pass' | 'drop' | 'hang' | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

export type Asked = { readonly path: string; readonly credential: string; readonly at: number };

export async function startFront(target: string) {
  let fate: Fate = 'pass';
  let asked: Asked[] = [];
  const open = new Set<ServerResponse>();

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url: path = '/', headers } = request;
    open.add(response.once('close', () => open.delete(response)));
    asked.push({ path, credential: String(headers['x-api-key'] ?? headers.authorization), at: performance.now() });
    if (fate === 'hang') return;
    if (fate === 'drop') return void response.destroy();
    if (fate !== 'pass') return void response.writeHead(fate.status, fate.headers).end(fate.body);
    const forwarded = forward(target + path, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    response.once('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy()).end();
  }
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on; with `drop` open requests end, too. */
    meet(next: Fate): void {
      fate = next;
      if (next === 'drop') for (const response of open) response.destroy();
    },
    /** Requests since the last call. */
    takeAsked(): readonly Asked[] {
      const taken = asked;
      asked = [];
      return taken;
    },
    get openRequests() {
      return open.size;
    },
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
export type Front = Awaited<ReturnType<typeof startFront>>;
