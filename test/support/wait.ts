// Waiting in tests: for a condition, never for a time.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export type Waiting = {
  /** After this long the last failure is thrown. */
  readonly withinMs?: number;
  readonly everyMs?: number;
};

/**
 * Asks again and again until the condition holds: until it neither throws (or rejects) nor answers `false`.
 * @returns what it answered then
 * @throws the last failure, once the time is over
 */
export async function eventually<T>(condition: () => T | Promise<T>, { withinMs = 30_000, everyMs = 25 }: Waiting = {}): Promise<Exclude<T, false>> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const last = performance.now() >= deadline;
    try {
      const answer = await condition();
      if (holds(answer)) return answer;
      if (last) throw new Error(`the condition did not hold within ${withinMs} ms`);
    } catch (failure) {
      if (last) throw failure;
    }
    await pause(everyMs);
  }
}

const holds = <T>(answer: T): answer is Exclude<T, false> => answer !== false;

/** Below those that systems hand out by themselves: no connection, and no server that asks for any port, takes one before its use. */
const ports = { first: 10_500, afterLast: 15_500 };

/** Each process of `run.ts`, `0/4` to `3/4`, has ports of its own: what is found free is listened on a while later, by a server that makes its data first. */
const [turn = 0, of = 1] = process.env['TEST_PROCESS']?.split('/').map(Number) ?? [];
const share = Math.floor((ports.afterLast - ports.first) / of);

/** A loopback port that nothing listens on; one that is given out is not given out again in this run. */
export const freePort = (): Promise<number> => freePorts(1);

/** The first of so many in a row. */
export async function freePorts(count: number): Promise<number> {
  const first = ports.first + turn * share + randomInt(share - count + 1);
  const row = Array.from({ length: count }, (_, index) => first + index);
  if (row.some((port) => given.has(port))) return freePorts(count);
  for (const port of row) given.add(port);
  for (const port of row) if (!(await isFree(port))) return freePorts(count);
  return first;
}

const given = new Set<number>();

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
