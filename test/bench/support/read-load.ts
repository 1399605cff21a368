// The load of benchmarks that read: one request again and again over keep-alive connections, each as soon as the last was answered.
// Plain sockets: a client that costs as much as the server would hide half of any difference.
import { connect } from 'node:net';

export type ReadLoad = {
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly durationMs: number;
};
export type ReadLoadResult = { readonly perSecond: number; readonly p50: number; readonly p99: number };

const options = JSON.parse(process.argv[2] ?? '{}') as ReadLoad; // given by the benchmark
const headers = Object.entries(options.headers).map(([name, value]) => `${name}: ${value}\r\n`);
const request = Buffer.from(`GET ${options.path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers.join('')}\r\n`);
const latencies: number[] = [];

function read(): void {
  const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
  let pending = '';
  let sentAt = 0;
  const send = () => {
    sentAt = performance.now();
    socket.write(request);
  };
  socket.setEncoding('latin1').on('connect', send);
  socket.on('data', (chunk: string) => {
    pending += chunk;
    const end = pending.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(pending)?.[1]);
    if (pending.length < end + 4 + length) return;
    if (!pending.startsWith('HTTP/1.1 200')) throw new Error(`a read was refused: ${pending.slice(0, 300)}`);
    latencies.push(performance.now() - sentAt);
    pending = '';
    send();
  });
}

const begun = performance.now();
for (let connection = 0; connection < options.connections; connection++) read();

setTimeout(() => {
  const seconds = (performance.now() - begun) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
  const result: ReadLoadResult = { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, options.durationMs);
