// An HTTP proxy in front of a real Kubernetes API server with the faults of networks and busy servers.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { freePort } from './wait.ts';

/** 410 is answered to watches, as if their version were too old; the other numbers to all requests. */
export type Fault = 'none' | 'cut' | 'hang' | 'slow' | 410 | 429 | 500 | 'duplicated' | 'reordered';

/** `status` is set when the API server has answered. */
export type Call = { readonly method: string; readonly url: string; status?: number | undefined };

export type FaultProxy = {
  /** Leads to the proxy: plain HTTP, no credentials. */
  readonly config: KubeConfig;
  /** Applies from now on; open watches are cut, or hang. */
  set(fault: Fault): void;
  /** Requests since the last call. */
  takeCalls(): readonly Call[];
  close(): Promise<void>;
};

const slowMs = 700;

export async function createFaultProxy(upstream: KubeConfig): Promise<FaultProxy> {
  let fault: Fault = 'none';
  let calls: Call[] = [];
  const open = new Set<ServerResponse>();
  /** These pass nothing any more, as behind a firewall that has dropped their state. */
  const dead = new WeakSet<ServerResponse>();

  async function forward(call: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/' } = call;
    const noted: Call = { method, url: path };
    calls.push(noted);
    if (fault === 'cut') return void answer.destroy();
    if (fault === 'hang') return void dead.add(answer);
    const isWatch = path.includes('watch=true');
    if (fault === 429 || fault === 500) return void answer.writeHead(fault).end(JSON.stringify({ message: 'a fault of the test' }));
    if (fault === 410 && isWatch) return void answer.end(`${JSON.stringify({ type: 'ERROR', object: { code: 410, message: 'too old' } })}\n`);
    if (fault === 'slow') await pause(slowMs);
    const headers = { ...call.headers };
    delete headers.host;
    const options: RequestOptions = { headers };
    await upstream.applyToHTTPSOptions(options);
    // The caller may have closed the connection meanwhile.
    if (answer.destroyed) return;
    const url = new URL(path, upstream.getCurrentCluster()?.server);
    const sent = request(url, { ...options, agent: false, method }, (got) => {
      noted.status = got.statusCode;
      answer.writeHead(got.statusCode ?? 502, got.headers);
      if (isWatch) passEvents(got, answer).catch(() => answer.destroy());
      else got.on('error', () => answer.destroy()).pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    answer.on('close', () => sent.destroy());
    call.pipe(sent);
  }

  async function passEvents(got: IncomingMessage, answer: ServerResponse): Promise<void> {
    answer.flushHeaders();
    const lines = createInterface({ input: got });
    lines.on('error', () => undefined);
    got.on('error', () => lines.close()).on('close', () => lines.close());
    let held: string | undefined;
    for await (const line of lines) {
      if (dead.has(answer)) continue;
      if (fault === 'slow') await pause(slowMs);
      if (fault === 'reordered' && held === undefined) {
        held = line;
        continue;
      }
      answer.write(`${line}\n`);
      if (fault === 'duplicated') answer.write(`${line}\n`);
      if (held !== undefined) answer.write(`${held}\n`);
      held = undefined;
    }
    answer.end();
  }

  const server = createServer((call, answer) => {
    open.add(answer);
    answer.on('close', () => open.delete(answer));
    forward(call, answer).catch(() => answer.destroy());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'proxy', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'nobody' });
  return {
    config,
    set(next) {
      for (const answer of open)
        if (next === 'hang') dead.add(answer);
        else if (!dead.has(answer)) answer.destroy();
      fault = next;
    },
    takeCalls() {
      const taken = calls;
      calls = [];
      return taken;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
