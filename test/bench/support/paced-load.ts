// Load at a fixed rate over keep-alive connections. wrk has no rate, and its `delay()` would begin to measure when a late request is sent at last:
// here a latency counts from the moment the request was due, so that a server which stalls is charged for all that waited.
// Plain sockets: a client that costs as much as the server would hide half of any difference. Prints what it measured in a line of JSON.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import type { Load } from './wrk.ts';

export type PacedLoad = Load & { /** Requests a second. */ readonly rate: number };
export type PacedResult = { readonly p50: number; readonly p99: number; readonly failed: number };

const { port, request, connections, seconds, rate } = JSON.parse(process.argv[2] ?? '{}') as PacedLoad; // given by the benchmark
const body = request.bodyFile === undefined ? Buffer.alloc(0) : readFileSync(request.bodyFile);
const lines = [
  `${body.length > 0 ? 'POST' : 'GET'} ${request.path} HTTP/1.1`,
  'Host: 127.0.0.1',
  `Content-Length: ${body.length}`,
  ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
];
const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);

const latencies: number[] = [];
let failed = 0;
let isOver = false;
const free: Client[] = [];
/** Since when each has been due that found no free connection. */
const late: number[] = [];

type Client = { send(due: number): void };

function open(): Promise<void> {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let answer = '';
  let due = 0;
  const client: Client = {
    send(from) {
      due = from;
      socket.write(bytes);
    },
  };
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk;
    const end = answer.indexOf('\r\n\r\n');
    if (end === -1 || answer.length < end + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? NaN)) return;
    if (answer.startsWith('HTTP/1.1 2')) latencies.push(performance.now() - due);
    else failed += 1;
    answer = '';
    const next = late.shift();
    if (next === undefined) free.push(client);
    else client.send(next);
  });
  socket.on('close', () => (failed += isOver ? 0 : 1));
  return new Promise((resolve, reject) => {
    socket.on('error', reject).once('connect', () => {
      free.push(client);
      resolve();
    });
  });
}

await Promise.all(Array.from({ length: connections }, open));
const begun = performance.now();
let sent = 0;
setInterval(() => {
  for (; sent < ((performance.now() - begun) / 1000) * rate; sent++) {
    const due = begun + (sent / rate) * 1000;
    const client = free.shift();
    if (client) client.send(due);
    else late.push(due);
  }
}, 1);

setTimeout(() => {
  isOver = true;
  latencies.push(...late.map((due) => performance.now() - due));
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
  const result: PacedResult = { p50: at(0.5), p99: at(0.99), failed };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, seconds * 1000);
