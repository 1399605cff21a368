// Whether a reader's time grows as its input does, by the processor's time, which a busy machine changes little.
import { expect } from 'chai';

/** Calls `run` with inputs of one and of eight parts: these may take thirty times as long, where a cost that grows with the square takes 64 times. */
export async function expectLinearTime(run: (parts: number) => unknown, what?: string): Promise<void> {
  const least = async (parts: number) => Math.min(await cpuMs(() => run(parts)), await cpuMs(() => run(parts)));
  await cpuMs(() => run(1)); // compiled code comes with use
  expect(await least(8), what).to.be.below(30 * Math.max(await least(1), 10));
}

async function cpuMs(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
