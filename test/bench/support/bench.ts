// The type of a benchmark, and how its rounds are counted.

export type BenchRow = {
  readonly measure: string;
  readonly ours: number;
  readonly bound: number;
  readonly unit: string;
  /** Ours to the bound's: the median over the rounds, each compared with its own neighbour. */
  readonly ratio: number;
  readonly goal: string;
  readonly isMet: boolean;
};

export type Pace = {
  /** Interleaved rounds that count, of each side. */
  readonly rounds: number;
  readonly seconds: number;
};

export type Tell = (row: BenchRow) => void;

export type Bench = {
  readonly summary: string;
  /** @param tell is given each row as it is measured, by benches that take many minutes: an interruption loses no row */
  readonly run: (pace: Pace, tell: Tell) => Promise<readonly BenchRow[]>;
};

/** Numbers of connections that the load comes over; both count. */
export const connectionCounts = [32, 128] as const;

export type Sides<T> = { readonly ours: T; readonly bound: T };
type Measured<T> = Sides<readonly T[]>;

/** Runs both sides in turn, after one uncounted round each; the order alternates. */
export async function interleaved<T>(rounds: number, sides: Sides<() => Promise<T>>): Promise<Measured<T>> {
  const measured: Sides<T[]> = { ours: [], bound: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const side of round % 2 === 0 ? (['ours', 'bound'] as const) : (['bound', 'ours'] as const)) {
      const value = await sides[side]();
      if (round > 0) measured[side].push(value);
    }
  }
  return measured;
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const [lower, upper] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return ((lower ?? NaN) + (upper ?? NaN)) / 2;
};

export type Goal = { readonly atLeast?: number; readonly atMost?: number };

/** Compares neighbouring rounds, so that other work of the machine slows both. Without a goal the row only tells. */
export function compare<T>(
  measured: Measured<T>,
  of: (value: T) => number,
  { measure, unit, goal: { atLeast, atMost } = {} }: Pick<BenchRow, 'measure' | 'unit'> & { readonly goal?: Goal },
): BenchRow {
  const [ours, bound] = [measured.ours.map(of), measured.bound.map(of)];
  const ratio = median(ours.map((value, round) => value / (bound[round] ?? NaN)));
  const goal = atLeast !== undefined ? `≥ ${atLeast.toFixed(2)}` : atMost !== undefined ? `≤ ${atMost.toFixed(2)}` : noGoal;
  const isMet = ratio >= (atLeast ?? -Infinity) && ratio <= (atMost ?? Infinity);
  return { measure, unit, ours: median(ours), bound: median(bound), ratio, goal, isMet };
}

const noGoal = '';

/** A limit of its own, which is no program's: of what was measured alone. */
export const within = (measure: string, { ours, most, unit }: { ours: number; most: number; unit: string }): BenchRow => ({
  measure,
  ours,
  bound: most,
  unit,
  ratio: ours / most,
  goal: '≤ 1.00',
  isMet: ours <= most,
});

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });

export const toLine = ({ measure, ratio, ours, bound, unit }: BenchRow): string =>
  `${measure}: ${ratio.toFixed(2)} (${number(ours)} to ${number(bound)} ${unit})\n`;

export function toTable(rows: readonly BenchRow[]): string {
  const cells = [
    ['measure', 'ours', 'bound', 'unit', 'ratio', 'goal', ''],
    ...rows.map((row) => [
      row.measure,
      number(row.ours),
      number(row.bound),
      row.unit,
      row.ratio.toFixed(2),
      row.goal,
      row.goal === noGoal ? '' : row.isMet ? 'met' : 'MISSED',
    ]),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd() + '\n').join('');
}
