// One operating-system process: signals, the order of stopping, the deadline, and what it says when it cannot start.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../config/config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from '../log.ts';

type ProcessOptions = {
  readonly log: Log;
  /** How long it serves on, unready, before it stops accepting: load balancers need a moment to notice. Default: not at all. */
  readonly drainMs?: number;
  readonly deadlineMs?: number;
  /** Whether a further signal repeats the first one instead of asking for the end at once. @param ms since the first */
  readonly isEcho?: (signal: NodeJS.Signals, ms: number) => boolean;
  /** A person reads the log: what it says is not written as an error, too. */
  readonly isLogRead?: boolean;
  /** Where a person reads what went wrong at start. */
  readonly writeError: (text: string) => void;
};

/**
 * Starts, then waits for SIGTERM, SIGINT or the end of its terminal, or for a start that says `done`, and stops in reverse.
 * A second signal, or the deadline after it stopped being served, ends the process with 1; a clean stop leaves nothing that
 * holds it, and it ends by itself with 0.
 * @returns when everything has stopped
 */
export async function runProcess(options: ProcessOptions, start: (lifecycle: Lifecycle) => Promise<'done' | undefined>): Promise<void> {
  const { log, drainMs = 0, deadlineMs = 20_000 } = options;
  const lifecycle = createLifecycle(log);
  const signal = awaitSignal(options.isEcho);
  const started = start(lifecycle).catch((error: unknown) => {
    // Stopping may have closed what the start was using.
    if (lifecycle.stopping.aborted) log.warn({ error }, 'stopped before startup finished');
    else report(error, options);
    return 'failed' as const;
  });
  // A signal is heard during a long start, too.
  const first = await Promise.race([started, signal.received]);
  const reason = first ?? (await signal.received);
  log.info({ reason }, 'stopping');
  lifecycle.drain();
  if (reason !== 'failed' && reason !== 'done') await sleep(drainMs);
  setTimeout(() => {
    log.fatal('shutdown timed out, exiting with 1');
    process.exit(1);
  }, deadlineMs).unref();
  await lifecycle.stop();
  await started;
  await lifecycle.stop(); // what an interrupted start opened meanwhile
  signal.close();
}

function awaitSignal(isEcho: ProcessOptions['isEcho'] = () => false) {
  const received = Promise.withResolvers<NodeJS.Signals>();
  let firstMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (firstMs !== undefined && !isEcho(signal, performance.now() - firstMs)) process.exit(1);
    firstMs ??= performance.now();
    received.resolve(signal);
  };
  const heard = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of heard) process.on(signal, onSignal);
  return { received: received.promise, close: () => heard.forEach((signal) => process.off(signal, onSignal)) };
}

function report(error: unknown, { log, isLogRead = false, writeError }: ProcessOptions): void {
  process.exitCode = 1;
  const isLogged = !(error instanceof ConfigError);
  if (isLogged) log.fatal({ error }, 'failed, exiting with 1');
  if (!isLogged || !isLogRead) writeError(error instanceof Error ? error.message : String(error));
}
