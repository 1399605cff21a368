// What must be closed when all tests have run; each process of the tests calls `closeAll` once.

const steps: (() => Promise<void> | void)[] = [];

/** Closed in reverse, so that what was opened later may use what was opened before. */
export const atEndOfRun = (close: () => Promise<void> | void): void => void steps.push(close);

export async function closeAll(): Promise<void> {
  for (let close = steps.pop(); close; close = steps.pop()) await close();
}
