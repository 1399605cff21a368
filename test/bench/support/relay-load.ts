// The load of the relay benchmark: signed deliveries over keep-alive connections, as fast as answered or at a fixed rate. Prints what it measured.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';

export type LoadOptions = {
  readonly port: number;
  readonly secret: string;
  readonly payloadFile: string;
  readonly event: string;
  readonly connections: number;
  readonly durationMs: number;
  /** Deliveries a second; 0 sends the next when one is answered. */
  readonly rate: number;
};
export type LoadResult = { readonly perSecond: number; readonly p50: number; readonly p99: number; readonly accepted: number; readonly others: number };

const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions; // given by relay.ts
const body = readFileSync(options.payloadFile);
const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
const target = {
  host: '127.0.0.1',
  port: options.port,
  path: '/Forge',
  method: 'POST',
  agent,
  headers: {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'User-Agent': 'GitHub-Hookshot/0000000',
    'X-GitHub-Delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'X-GitHub-Event': options.event,
    'X-GitHub-Hook-ID': '292430182',
    'X-GitHub-Hook-Installation-Target-ID': '79929171',
    'X-GitHub-Hook-Installation-Target-Type': 'repository',
    'X-Hub-Signature-256': `sha256=${createHmac('sha256', options.secret).update(body).digest('hex')}`,
  },
};

const latencies: number[] = [];
let accepted = 0;
let others = 0;
let isOver = false;

/** @param due from then its latency counts, so that a server which stalls does not stop the clock on those that wait for it */
function deliver(due: number): void {
  const sent = request(target, (response) => {
    response.resume().on('end', () => {
      if (isOver) return;
      if (response.statusCode === 202) accepted += 1;
      else others += 1;
      latencies.push(performance.now() - due);
      if (options.rate === 0) deliver(performance.now());
    });
  });
  sent.on('error', () => (others += 1));
  sent.end(body);
}

const begun = performance.now();
let sent = 0;
function deliverWhatIsDue(): void {
  for (; sent < ((performance.now() - begun) / 1000) * options.rate; sent++) deliver(begun + (sent / options.rate) * 1000);
}
if (options.rate === 0) for (let connection = 0; connection < options.connections; connection++) deliver(begun);
else setInterval(deliverWhatIsDue, 1);

setTimeout(() => {
  isOver = true;
  const seconds = (performance.now() - begun) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? NaN;
  const result: LoadResult = { perSecond: accepted / seconds, p50: at(0.5), p99: at(0.99), accepted, others };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, options.durationMs);
