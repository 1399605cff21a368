// Load at a fixed rate over keep-alive connections. wrk has no rate, and its `delay()` would begin to measure when a late request is sent at last:
// here a latency counts from the moment the request was due, so that a server which stalls is charged for all that waited.
// Prints what it measured in a line of JSON.
import { readFileSync } from 'node:fs';
import { openConnections, paced, quantile, requestBytes } from './open-connections.ts';
import type { Load } from './wrk.ts';

export type PacedLoad = Load & { /** Requests a second. */ readonly rate: number };
export type PacedResult = { readonly p50: number; readonly p99: number; readonly failed: number };

const { port, request, connections, seconds, rate } = JSON.parse(process.argv[2] ?? '{}') as PacedLoad; // given by the benchmark
const bytes = requestBytes(request.path, request.headers, request.bodyFile === undefined ? undefined : readFileSync(request.bodyFile));

const latencies: number[] = [];
let failed = 0;
/** Since when each has been due that has no answer. */
const unanswered = new Map<number, number>();

const send = await openConnections(port, connections);
paced(rate, (index, dueMs) => {
  unanswered.set(index, dueMs);
  send(bytes, (isAccepted) => {
    unanswered.delete(index);
    if (isAccepted) latencies.push(performance.now() - dueMs);
    else failed += 1;
  });
});

setTimeout(() => {
  latencies.push(...[...unanswered.values()].map((dueMs) => performance.now() - dueMs));
  const result: PacedResult = { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), failed };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, seconds * 1000);
