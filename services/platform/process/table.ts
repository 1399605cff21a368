// A table for the terminal: rows under a head, each column as wide as its widest cell.

/** A name must not send control sequences to the terminal. */
export const visible = (cell: string) => cell.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');

/** @returns lines, each with its end */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows.map((row) => row.map(visible))];
  const widths = head.map((_, column) => lines.reduce((width, line) => Math.max(width, [...(line[column] ?? '')].length), 0));
  const pad = (cell: string, column: number) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
  return lines.map((line) => `${line.map(pad).join('  ').trimEnd()}\n`).join('');
}
