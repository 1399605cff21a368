// Prints the steps of a scenario while it runs.

const begun = performance.now();

/** One line, with the time since the start. */
export const say = (text: string): void => void process.stdout.write(`[${seconds(performance.now() - begun).padStart(6)}] ${text}\n`);

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Tells what it begins, and how long it took. */
export async function step<T>(text: string, work: () => Promise<T>): Promise<T> {
  say(text);
  const start = performance.now();
  const result = await work();
  say(`  done in ${seconds(performance.now() - start)}`);
  return result;
}
