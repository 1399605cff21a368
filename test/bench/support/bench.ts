// What a benchmark is, and how its rounds are counted.

export type BenchRow = {
  readonly measure: string;
  readonly ours: number;
  readonly bound: number;
  readonly unit: string;
  /** Ours to the bound's, as the goal puts it. */
  readonly ratio: number;
  readonly goal: string;
  readonly isMet: boolean;
};

export type Bench = {
  readonly summary: string;
  readonly run: () => Promise<readonly BenchRow[]>;
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const [lower, upper] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((lower ?? NaN) + (upper ?? NaN)) / 2;
};

/** Both sides in turn, after one round each that does not count; whoever goes first changes. */
export async function interleaved(rounds: number, sides: { readonly ours: () => Promise<number>; readonly bound: () => Promise<number> }) {
  const measured = { ours: [] as number[], bound: [] as number[] };
  for (let round = 0; round <= rounds; round++) {
    for (const side of round % 2 === 0 ? (['ours', 'bound'] as const) : (['bound', 'ours'] as const)) {
      const value = await sides[side]();
      if (round > 0) measured[side].push(value);
    }
  }
  return measured;
}
