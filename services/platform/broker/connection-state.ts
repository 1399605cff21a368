// Whether a broker is connected, why not, and who waits for it: the same for both adapters.

export type ConnectionState = {
  readonly isConnected: boolean;
  readonly lastError: string | null;
  up(): void;
  /** With the reason; none when the connection is closed on purpose. */
  down(reason?: string): void;
  ready(timeoutMs: number): Promise<void>;
};

/** @param onUp called whenever it comes up */
export function createConnectionState(onUp: () => void = () => undefined): ConnectionState {
  let isConnected = false;
  let lastError: string | null = null;
  const waiters = new Set<{ readonly up: () => void; readonly closed: () => void }>();

  return {
    get isConnected() {
      return isConnected;
    },
    get lastError() {
      return lastError;
    },
    up() {
      isConnected = true;
      for (const waiter of waiters) waiter.up();
      waiters.clear();
      onUp();
    },
    down(reason) {
      isConnected = false;
      if (reason !== undefined) lastError = reason;
      else waiters.forEach((waiter) => waiter.closed());
    },
    ready(timeoutMs) {
      if (isConnected) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const end = (outcome: () => void) => () => {
          clearTimeout(timer);
          waiters.delete(waiter);
          outcome();
        };
        const late = () => {
          const cause = lastError === null ? undefined : new Error(lastError);
          reject(new Error(`the broker is not connected after ${timeoutMs} ms`, { cause }));
        };
        const waiter = { up: end(resolve), closed: end(() => reject(new Error('the broker connection was closed'))) };
        const timer = setTimeout(end(late), timeoutMs);
        waiters.add(waiter);
      });
    },
  };
}
