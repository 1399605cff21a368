// Starting and stopping: each step that opens something registers how it is closed; stopping runs in reverse, once.
import type { Log } from '../log.ts';

type Closing = () => Promise<void> | void;

export type Lifecycle = ReturnType<typeof createLifecycle>;

export function createLifecycle(log: Log) {
  const steps: { readonly name: string; readonly close: Closing }[] = [];
  const draining = new AbortController();
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

  const onStop = (name: string, close: Closing) => void steps.push({ name, close });
  return {
    /** Aborted first of all: everything turns unready, and serves on until load balancers have noticed. */
    draining: draining.signal,
    drain: () => draining.abort(),
    /** Aborted when closing begins: loops and long waits listen to it. */
    stopping: stopping.signal,
    onStop,
    /** Registers what must be closed, and hands it back. */
    opened<T extends { readonly close: Closing }>(name: string, thing: T): T {
      onStop(name, () => thing.close());
      return thing;
    },
    /** Closes everything in reverse, one step after the other however often it is called. Never rejects: what fails to close is logged. */
    stop: () => (last = last.then(closeAll)),
  };
}
