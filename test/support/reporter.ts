// How a test run reads: sentences as they pass, the failures, what was not run, and one plain line that counts.
import Mocha from 'mocha';
import { suitesNotRun } from './need.ts';

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** `12 passed, 0 failed`, and `, 3 skipped` where there are such. */
export const countLine = ({ passed, failed, skipped }: Counts): string => `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

/** The line after which a process says what failed: what is read last, after all files. */
export const summaryLine = 'Summary';

/** The lines that end a run. */
export const closingLines = (counts: Counts, notRun: readonly string[]): string[] => [...notRun.map((suites) => `not run: ${suites}`), countLine(counts)];

export class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    if (this.stats.failures > 0) {
      process.stdout.write(`${summaryLine}\n`);
      super.epilogue();
    }
    const { passes, failures, pending } = this.stats;
    for (const line of closingLines({ passed: passes, failed: failures, skipped: pending }, suitesNotRun())) process.stdout.write(`${line}\n`);
  }
}
