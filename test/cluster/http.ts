// Requests through the cluster's ingress: to its address, with the host's name.
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

export type Reply = { readonly status: number; readonly body: string; readonly headers: IncomingHttpHeaders };

export type Ask = {
  readonly host: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
};

export type Way = {
  /** @throws when there is no whole answer within 15 s */
  ask(ask: Ask): Promise<Reply>;
  close(): void;
};

const patienceMs = 15_000;

/** Connections are kept, as clients of an ingress keep them. */
export function createWay(address: string): Way {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const [hostname, port = '80'] = address.split(':');
  return {
    ask: ({ host, path, method = 'GET', headers = {}, body = '' }) =>
      new Promise((resolve, reject) => {
        const all = { ...headers, Host: host, 'Content-Length': Buffer.byteLength(body) };
        const sent = request({ agent, hostname, port, path, method, headers: all, signal: AbortSignal.timeout(patienceMs) }, (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('error', reject)
            .on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() }));
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
