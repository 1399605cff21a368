// One operating-system process: signals, the order of stopping, the deadline, and what it says when it cannot start.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../config/config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from '../log.ts';

export type ProcessOptions = {
  readonly log: Log;
  /** It serves on, unready, until it was not asked for so long, and stops accepting then: load balancers need a moment. */
  readonly drainMs: number;
  /** It stops accepting after so long even if it is still asked; after `drainMs` unless given. */
  readonly longestDrainMs?: number;
  /** When it was asked last, by `performance.now()`. */
  readonly lastAskedMs?: () => number;
  readonly deadlineMs?: number;
  /** Turns everything unready; the first step of stopping. */
  readonly markStopping?: () => void;
  /** Where a person reads what went wrong at start. */
  readonly writeError: (text: string) => void;
};

/**
 * Starts, then waits for SIGTERM, SIGINT or the end of its terminal, or for a start that says `done`, and stops in reverse.
 * A second signal or the deadline ends the process with 1; a clean stop leaves nothing that holds it, and it ends by itself with 0.
 * @returns when everything has stopped
 */
export async function runProcess(options: ProcessOptions, start: (lifecycle: Lifecycle) => Promise<'done' | undefined>): Promise<void> {
  const { log } = options;
  const lifecycle = createLifecycle(log);
  const signal = awaitSignal();
  const started = start(lifecycle).catch((error: unknown) => {
    // What it was at may have been closed under it.
    if (lifecycle.stopping.aborted) log.warn({ error }, 'told to stop, it did not come to the end of its start');
    else report(error, options);
    return 'failed' as const;
  });
  // A signal is heard during a long start, too.
  const first = await Promise.race([started, signal.received]);
  const reason = first ?? (await signal.received);
  log.info({ reason }, 'stopping');
  options.markStopping?.();
  if (reason !== 'failed' && reason !== 'done') await serveOn(options);
  setTimeout(() => {
    log.fatal('not stopped by the deadline');
    process.exit(1);
  }, options.deadlineMs ?? 20_000).unref();
  await lifecycle.stop();
  await started;
  await lifecycle.stop(); // what an interrupted start opened meanwhile
  signal.close();
}

/** Proxies of a busy node were seen to ask a pod for 14 s that had been told to end. */
async function serveOn({ drainMs, longestDrainMs = drainMs, lastAskedMs = () => 0 }: ProcessOptions): Promise<void> {
  const begunMs = performance.now();
  for (;;) {
    const endMs = Math.min(Math.max(begunMs, lastAskedMs()) + drainMs, begunMs + longestDrainMs);
    if (performance.now() >= endMs) return;
    await sleep(endMs - performance.now());
  }
}

/** Under npm one Ctrl-C, or the end of the terminal, comes twice: from the terminal, and passed on by npm at once. */
const echoMs = 500;

function awaitSignal() {
  const received = Promise.withResolvers<NodeJS.Signals>();
  let count = 0;
  let firstMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    firstMs ??= performance.now();
    const isEcho = signal !== 'SIGTERM' && performance.now() - firstMs < echoMs;
    if (count++ > 0 && !isEcho) process.exit(1);
    received.resolve(signal);
  };
  const heard = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  for (const signal of heard) process.on(signal, onSignal);
  return { received: received.promise, close: () => heard.forEach((signal) => process.off(signal, onSignal)) };
}

function report(error: unknown, { log, writeError }: ProcessOptions): void {
  process.exitCode = 1;
  if (!(error instanceof ConfigError)) log.fatal({ error }, 'failed');
  writeError(error instanceof Error ? error.message : String(error));
}
