// One operating-system process: signals, the order of stopping, the deadline, and what it says when it cannot start.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from './config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from './log.ts';

export type ProcessOptions = {
  readonly log: Log;
  /** How long it serves on, unready, before it stops accepting: load balancers need a moment. */
  readonly drainMs: number;
  readonly deadlineMs?: number;
  /** Turns everything unready; the first step of stopping. */
  readonly markStopping?: () => void;
  /** Where a person reads what went wrong at start. */
  readonly complain: (text: string) => void;
};

/**
 * Starts, then waits for SIGTERM or SIGINT and stops in reverse. A second signal or the deadline ends the process with 1;
 * a clean stop leaves nothing that holds it, and it ends by itself with 0.
 * @returns when everything has stopped
 */
export async function runProcess(options: ProcessOptions, start: (lifecycle: Lifecycle) => Promise<void>): Promise<void> {
  const { log, complain } = options;
  const lifecycle = createLifecycle(log);
  const asked = Promise.withResolvers<string>();
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    signals++;
    if (signals > 1) process.exit(1);
    asked.resolve(signal);
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  try {
    await start(lifecycle);
    log.info({ signal: await asked.promise }, 'stopping');
    options.markStopping?.();
    await sleep(options.drainMs);
  } catch (error) {
    process.exitCode = 1;
    if (error instanceof ConfigError) complain(error.message);
    else {
      log.fatal({ error }, 'could not start');
      complain(error instanceof Error ? error.message : String(error));
    }
  }
  setTimeout(() => {
    log.fatal('not stopped by the deadline');
    process.exit(1);
  }, options.deadlineMs ?? 20_000).unref();
  await lifecycle.stop();
  process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
}
