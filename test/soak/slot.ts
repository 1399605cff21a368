// A place for one process of the installation, which is started again there whenever it has ended, as a node of Kubernetes does.
import { type ProcessOptions, type RunningProcess, startProcess } from '../support/processes.ts';
import { eventually } from '../support/wait.ts';
import type { Clock } from './clock.ts';

export type SlotParts = {
  readonly name: string;
  readonly args: readonly string[];
  readonly options: ProcessOptions;
  /** The address of its port for metrics and health. */
  readonly healthUrl: string;
  /** Undefined: the machine's. */
  readonly clock: Clock | undefined;
  /** Called when it has ended by itself. */
  readonly onEnd: (name: string, code: string, lastLines: readonly string[]) => void;
};

export type Slot = ReturnType<typeof createSlot>;

const restartMs = 1000;
const startMs = 120_000;

export function createSlot({ name, args, options, healthUrl, clock, onEnd }: SlotParts) {
  let running: RunningProcess | undefined;
  let isClosed = false;

  function start(): void {
    const started = startProcess(args, options);
    running = started;
    void started.exited.then(({ code, signal }) => {
      if (running !== started || isClosed) return;
      onEnd(name, String(signal ?? code), started.lines.slice(-5));
      setTimeout(() => running === started && !isClosed && start(), restartMs);
    });
  }

  /** Ends the process as `work` does it, and starts the next one. */
  async function replace<T>(work: (process: RunningProcess) => Promise<T>): Promise<T | undefined> {
    const ending = running;
    if (!ending) return undefined;
    running = undefined;
    const result = await work(ending);
    if (!isClosed) start();
    return result;
  }

  return {
    name,
    clock,
    start,
    /** SIGKILL. */
    kill: () => replace((process) => process.kill()),
    /** SIGTERM. @returns the exit code */
    restart: () =>
      replace(async (process) => {
        process.signal('SIGTERM');
        return (await process.exited).code;
      }),
    suspend: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
    ready: () => eventually(async () => (await fetch(`${healthUrl}/health/ready`)).ok, { withinMs: startMs, everyMs: 200 }),
    async close(): Promise<void> {
      isClosed = true;
      await running?.kill();
    },
  };
}
