// Closes servers and databases when all tests have run; each process of the tests calls `closeAll` once.

const steps: (() => Promise<void> | void)[] = [];

/** Steps run in reverse order, since later ones may use earlier ones. */
export const atEndOfRun = (close: () => Promise<void> | void): void => void steps.push(close);

export async function closeAll(): Promise<void> {
  for (let close = steps.pop(); close; close = steps.pop()) await close();
}
