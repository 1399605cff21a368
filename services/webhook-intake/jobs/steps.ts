// The steps of cleanup and maintenance: one after the other, each within its time, told on a terminal or in the log.
import type { WriteStream } from 'node:tty';
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import { createProgress } from '../../platform/process/input.ts';
import { type Counts, Stopped } from './runner.ts';

export type Step = {
  readonly name: string;
  /** Ends soon after `deadline` is aborted, with what it has done by then. */
  readonly run: (deadline: AbortSignal) => Promise<Counts>;
  /** Its time, where it may take longer than others. */
  readonly ms?: number;
};

export type StepsParts = {
  readonly log: Log;
  /** Where a person may look; then the log has no line of each step. */
  readonly terminal?: Pick<WriteStream, 'isTTY' | 'write'> | undefined;
  /** The rest follows with the next run. */
  readonly stepMs?: number;
};

const usualStepMs = 60_000;
const silentTerminal = { isTTY: false, write: () => true };

/** A step that fails does not keep the others from their turn. @throws when one failed, and when told to stop before the end */
export async function runSteps(steps: readonly Step[], run: { readonly counts: Counts; readonly stopping: AbortSignal }, parts: StepsParts): Promise<void> {
  const { log, terminal = silentTerminal, stepMs = usualStepMs } = parts;
  const { counts, stopping } = run;
  const failures: { readonly name: string; readonly error: unknown }[] = [];
  const progress = createProgress(terminal, steps.length, { describe: (done) => `${steps[done]?.name ?? 'done'}, ${counts.processed} so far` });
  const level = terminal.isTTY ? 'debug' : 'info';
  try {
    for (const { name, run: work, ms = stepMs } of steps) {
      if (stopping.aborted) throw new Stopped();
      const begun = performance.now();
      const deadline = AbortSignal.any([stopping, AbortSignal.timeout(ms)]);
      try {
        const { processed, failed } = await work(deadline);
        counts.processed += processed;
        counts.failed += failed;
        log[level]({ step: name, processed, failed, seconds: (performance.now() - begun) / 1000, isCut: deadline.aborted }, 'step done');
      } catch (error) {
        // The others would wait for the database as long, and fail alike.
        if (isUnavailable(error)) throw error;
        failures.push({ name, error });
        log.warn({ step: name, error }, 'step failed, going on with the next one');
      }
      progress.add(1);
    }
  } finally {
    progress.end();
  }
  if (stopping.aborted) throw new Stopped();
  if (failures.length === 0) return;
  const reasons = failures.map(({ name, error }) => `${name}: ${describeError(error)}`);
  throw new Error(`${failures.length} of ${steps.length} steps failed: ${reasons.join('; ')}`, { cause: failures[0]?.error });
}
