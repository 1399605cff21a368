// Whether a broker is connected, why not, and who waits for it: the same for both adapters.
import { withTimeout } from '../time.ts';
import type { PublishResult } from './broker.ts';

export const closedReason = 'the broker connection was closed';

/** @param onConnected called whenever it is connected */
export function createConnectionState(onConnected: () => void = () => undefined) {
  let isConnected = false;
  let lastError: string | null = null;
  let isClosed = false;
  let waiting = newWaiting();

  function disconnected(reason: string): void {
    if (isConnected) waiting = newWaiting();
    isConnected = false;
    lastError = reason;
  }

  return {
    get isConnected() {
      return isConnected;
    },
    get lastError() {
      return lastError;
    },
    /** What a publish is answered at once; null while it is connected. */
    get refusal(): PublishResult | null {
      return isConnected ? null : { outcome: 'unpublished', reason: lastError ?? 'not connected yet' };
    },
    connected(): void {
      if (isClosed) return;
      isConnected = true;
      waiting.resolve();
      onConnected();
    },
    disconnected,
    /** For good. */
    closed(): void {
      isClosed = true;
      disconnected(closedReason);
      waiting.reject(new Error(closedReason));
    },
    ready: (timeoutMs: number): Promise<void> =>
      withTimeout(waiting.promise, timeoutMs, () => {
        throw new Error(`the broker is not connected after ${timeoutMs} ms`, { cause: lastError === null ? undefined : new Error(lastError) });
      }),
  };
}

function newWaiting() {
  const waiting = Promise.withResolvers<void>();
  waiting.promise.catch(() => undefined); // perhaps nobody waits
  return waiting;
}
