// Whether a broker is connected, why not, and who waits for it: the same for both adapters.
import { withTimeout } from '../time.ts';

/** @param onConnected called whenever it is connected */
export function createConnectionState(onConnected: () => void = () => undefined) {
  let isConnected = false;
  let lastError: string | null = null;
  let waiting = newWaiting();

  return {
    get isConnected() {
      return isConnected;
    },
    get lastError() {
      return lastError;
    },
    connected(): void {
      isConnected = true;
      waiting.resolve();
      onConnected();
    },
    disconnected(reason: string): void {
      if (isConnected) waiting = newWaiting();
      isConnected = false;
      lastError = reason;
    },
    closed(): void {
      isConnected = false;
      waiting.reject(new Error('the broker connection was closed'));
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
