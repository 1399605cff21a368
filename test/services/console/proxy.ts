// Between the console and a real service: each call goes on to it, unless a test steps in.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as forward, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Call = {
  readonly method: string;
  readonly path: string;
  /** Resolves when the console has the answer, or has left. */
  readonly ended: Promise<unknown>;
};
/** `hang`: no answer; `fail`: 500 in place of the service; `lost`: the service does its work, and 500 is the answer. */
type Fate = 'hang' | 'fail' | 'lost' | undefined;
export type Step = (call: Call) => Fate | Promise<Fate>;

export async function startProxy(target: () => string) {
  let step: Step = () => undefined;
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const fate = await step({ method, path, ended: once(response, 'close') });
    if (fate === 'hang') return;
    if (fate === 'fail') return void response.writeHead(500).end('{}');
    const forwarded = forward(target() + path, { method, headers }, (answer) => {
      if (fate === 'lost') return void answer.resume().once('end', () => response.writeHead(500).end('{}'));
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.once('close', () => forwarded.destroy());
    forwarded.on('error', () => response.destroy());
    request.pipe(forwarded);
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
