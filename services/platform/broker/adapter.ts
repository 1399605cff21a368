// What an adapter has to do, and where it tells whether it is connected. connect.ts makes a broker of it.
import { withTimeout } from '../time.ts';
import type { Broker, BrokerOptions, ConsumeOptions, Consumer, DeadLetter, PublishResult, QueueTopology, Topology } from './broker.ts';
import type { HandOver } from './outcomes.ts';

export type AdapterParts = BrokerOptions & { readonly topology: Topology; readonly state: ConnectionState };

export type Adapter = Pick<Broker, 'publish' | 'depth' | 'close'> & {
  consume(source: Source, options: ConsumeOptions, handOver: HandOver): Consumer;
  /** Those that are there when it begins, oldest first; what dies meanwhile is not among them. Rejects when not connected, or no longer. */
  deadLetters(): AsyncIterable<WaitingDeadLetter>;
};

/** `from` is the queue itself, or that of its redelivered messages. */
export type Source = { readonly queue: string; readonly from: string };

export type WaitingDeadLetter = DeadLetter & {
  /** Without its death. Kept when the server does not accept it; gone when somebody else has taken it. */
  returnTo(queue: QueueTopology): Promise<'returned' | 'kept' | 'gone'>;
};

export type ConnectionState = ReturnType<typeof createConnectionState>;

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
      const reason = 'the broker connection was closed';
      disconnected(reason);
      waiting.reject(new Error(reason));
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
