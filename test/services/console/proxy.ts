// Between the console and a real service: each call goes on to it, unless a test steps in.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type Call = { readonly method: string; readonly path: string };
/** `hang`: no answer; `fail`: 500 in place of the service; `lost`: the service does its work, and 500 is the answer. */
type Fate = 'hang' | 'fail' | 'lost' | undefined;
export type Step = (call: Call) => Fate | Promise<Fate>;

const passed = ['authorization', 'x-api-key', 'content-type', 'accept', 'x-request-id', 'x-signalbox-actor'];

export async function startProxy(target: () => string) {
  let step: Step = () => undefined;
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = request;
    const body = await buffer(request);
    const fate = await step({ method, path });
    if (fate === 'hang') return;
    if (fate === 'fail') return void response.writeHead(500).end('{}');
    const headers = passed.flatMap((name) => (request.headers[name] === undefined ? [] : [[name, String(request.headers[name])] as [string, string]]));
    const answered = await fetch(target() + path, { method, headers, ...(body.length > 0 && { body: new Uint8Array(body) }) });
    const text = Buffer.from(await answered.arrayBuffer());
    if (fate === 'lost') return void response.writeHead(500).end('{}');
    response.writeHead(answered.status, { 'Content-Type': answered.headers.get('content-type') ?? 'text/plain' }).end(text);
  }
  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The fate of calls from now on. */
    meet: (next: Step) => void (step = next),
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;
