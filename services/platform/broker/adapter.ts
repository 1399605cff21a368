// The contract of an adapter and of the connection state that it reports to. connect.ts makes a broker of it.
import type { Broker, BrokerOptions, ConsumeOptions, Consumer, DeadLetter, Message, PublishResult, QueueTopology, Topology } from './broker.ts';
import type { HandOver } from './outcomes.ts';

export type AdapterParts = BrokerOptions & { readonly topology: Topology; readonly state: ConnectionState };

export type Adapter = Pick<Broker, 'publish' | 'depth' | 'stateOf' | 'close'> & {
  consume(source: Source, options: ConsumeOptions, handling: Handling): Consumer;
  /** The dead letters at the time of the call, oldest first; later ones are not included. Rejects when not connected, or when the connection is lost. */
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
  /** Undefined when another client has taken it. */
  read(): Promise<Message | undefined>;
  /** False when another client has taken it. */
  drop(): Promise<boolean>;
  /** Returns it without the headers of its death. `kept` when the server does not accept it, `gone` when another client has taken it. */
  returnTo(queue: QueueTopology): Promise<'returned' | 'kept' | 'gone'>;
};

export type ConnectionState = {
  readonly lastError: string | null;
  /** The immediate answer to a publish; null while connected. */
  readonly refusal: PublishResult | null;
  connected(): void;
  disconnected(reason: string): void;
};
