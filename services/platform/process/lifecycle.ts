// Starting and stopping: each step that opens something registers how it is closed; stopping runs in reverse, once.
import type { Log } from '../log.ts';

export type Closable = { close(): Promise<void> | void };

export type Lifecycle = {
  /** Aborted when stopping begins: loops and long waits listen to it. */
  readonly stopping: AbortSignal;
  /** Registers what must be closed, and hands it back. */
  opened<T extends Closable>(name: string, thing: T): T;
  onStop(name: string, close: () => Promise<void> | void): void;
  /** Closes everything in reverse, one step after the other however often it is called. Never rejects: what fails to close is logged. */
  stop(): Promise<void>;
};

export function createLifecycle(log: Log): Lifecycle {
  const steps: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  const stopping = new AbortController();

  let last = Promise.resolve();
  async function closeAll(): Promise<void> {
    stopping.abort();
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await step.close();
        log.debug({ step: step.name }, 'closed');
      } catch (error) {
        log.error({ step: step.name, error }, 'closing failed');
      }
    }
  }

  const onStop: Lifecycle['onStop'] = (name, close) => {
    steps.push({ name, close });
  };
  return {
    stopping: stopping.signal,
    onStop,
    opened(name, thing) {
      onStop(name, () => thing.close());
      return thing;
    },
    stop: () => (last = last.then(closeAll)),
  };
}
