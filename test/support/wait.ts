// Waiting in tests: for a condition, never for a time.
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
export async function eventually<T>(condition: () => T | Promise<T>, { withinMs = 10_000, everyMs = 25 }: Waiting = {}): Promise<Exclude<T, false>> {
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

/** A loopback port that nothing listens on; one that is given out is not given out again in this run. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
  if (given.has(address.port)) return freePort();
  given.add(address.port);
  return address.port;
}

const given = new Set<number>();
