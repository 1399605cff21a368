// What an adapter has to do, and whom it tells whether it is connected. connect.ts makes a broker of it.
import type { Broker, BrokerOptions, ConsumeOptions, Consumer, DeadLetter, Message, PublishResult, QueueTopology, Topology } from './broker.ts';
import type { HandOver } from './outcomes.ts';

export type AdapterParts = BrokerOptions & { readonly topology: Topology; readonly state: ConnectionState };

export type Adapter = Pick<Broker, 'publish' | 'depth' | 'close'> & {
  consume(source: Source, options: ConsumeOptions, handling: Handling): Consumer;
  /** Those that are there when it begins, oldest first; what dies meanwhile is not among them. Rejects when not connected, or no longer. */
  deadLetters(): AsyncIterable<WaitingDeadLetter>;
};

/** `from` is the queue itself, or that of its redelivered messages. */
export type Source = { readonly queue: string; readonly from: string };

export type Handling = {
  readonly handOver: HandOver;
  /** The next batch of the same queue is handed over when this is done, too. */
  readonly holdNext: <T>(work: Promise<T>) => Promise<T>;
};

export type WaitingDeadLetter = DeadLetter & {
  /** Undefined when somebody else has taken it. */
  read(): Promise<Message | undefined>;
  /** False when somebody else has taken it. */
  drop(): Promise<boolean>;
  /** Without its death. Kept when the server does not accept it; gone when somebody else has taken it. */
  returnTo(queue: QueueTopology): Promise<'returned' | 'kept' | 'gone'>;
};

export type ConnectionState = {
  readonly lastError: string | null;
  /** What a publish is answered at once; null while it is connected. */
  readonly refusal: PublishResult | null;
  connected(): void;
  disconnected(reason: string): void;
};
