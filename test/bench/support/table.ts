// Results of a benchmark as a table for people.
import type { BenchRow } from './bench.ts';

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 2 : 0 });

export function toTable(rows: readonly BenchRow[]): string {
  const cells = [
    ['measure', 'ours', 'bound', 'unit', 'ratio', 'goal', ''],
    ...rows.map((row) => [row.measure, number(row.ours), number(row.bound), row.unit, row.ratio.toFixed(2), row.goal, row.isMet ? 'met' : 'MISSED']),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd() + '\n').join('');
}
