// The message broker as services see it: the contract that every adapter keeps and one test suite holds.
import type { Log } from '../log.ts';

/** A durable queue, bound to its topology's exchange. */
export type QueueTopology = {
  readonly name: string;
  /** Priorities 0 to 10 are kept apart, higher ones first; without it the queue is first in, first out. */
  readonly prioritised: boolean;
  /** The wait before each retry, growing. A message that fails once more than there are waits is dead-lettered. */
  readonly retryDelaysMs: readonly number[];
};

/** Everything durable that a flow needs on a broker; declared by the adapter on every connect. */
export type Topology = {
  /** A durable fanout exchange: each queue below receives its own copy of every message. */
  readonly exchange: string;
  readonly queues: readonly QueueTopology[];
  /** Where given-up messages go, with the headers `x-dead-reason`, `x-dead-queue`, `x-dead-at` and `x-dead-cause` added; the last is `refused`
   *  where its handler refused it at once, `failed` where its last retry failed. `x-dead-returns` is how often it was sent back from there before. */
  readonly deadLetters: { readonly exchange: string; readonly queue: string };
};

export type Message = {
  readonly id: string;
  /** The event name: AMQP `type`. */
  readonly type: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly contentEncoding?: 'gzip';
  /** 0 to 10, 10 first. */
  readonly priority: number;
  /** AMQP carries whole seconds; exact times belong in a header. */
  readonly timestamp: Date;
  readonly headers: Readonly<Record<string, string>>;
};

export type Delivery = Message & {
  /** 1 for the first try; counts tries that ended in `retry`, and those that ended the consumer while nothing else was in work. */
  readonly attempt: number;
  /** True when a consumer may have seen it before: one that died, lost its connection or had no room. It is in a batch of its own then. */
  readonly redelivered: boolean;
};

/** `retry` waits as the queue's topology says and dead-letters after the last wait. `requeue` gives back, uncounted, what a handler that has to
 *  stop has not begun; it comes again alone.
 *  On the dead-letter queue itself all three put the message back at its end, still saying which queue it came from. */
export type Outcome = 'ack' | 'requeue' | { readonly retry: string } | { readonly deadLetter: string };

/** One outcome for each delivery of the batch, in its order. A throw means that every message would fail, as when a database is
 *  away: nothing is acknowledged or counted, the queue waits, and the same batch is handed over again after a growing pause. So what
 *  fails on one message alone must not be thrown on, whatever it is: the handler finds that message and answers `retry` for it.
 *  From the abortion of `stopping` on it has 10 s to finish what it has begun. */
export type BatchHandler = (batch: readonly Delivery[], stopping?: AbortSignal) => Promise<readonly Outcome[]>;

export type ConsumeOptions = {
  /** Most deliveries in one batch; a batch is never waited for. */
  readonly batchSize: number;
  /** Most deliveries held unacknowledged, the batch in work among them. Small numbers keep priorities meaningful. */
  readonly prefetch: number;
  /** Most bytes of bodies held at once, though one message is always taken; without end unless given. The embedded broker holds one batch,
   *  and bounds what it claims for it. On RabbitMQ what is too much goes back to the queue, and comes again with `redelivered`. */
  readonly maxBytes?: number;
  /** Called before a delivery is dead-lettered, because of its handler, its last retry, or a consumer that ended while handling it. Returns
   *  `ack`, or the reason for the dead letter. A throw holds the batch, as a throw of the handler does. */
  readonly giveUp?: (delivery: Delivery, reason: string) => Promise<'ack' | { readonly deadLetter: string }>;
};

export type Consumer = {
  /** Takes no more, finishes the batch in work, gives the rest back to the queue. */
  stop(): Promise<void>;
};

/** - confirmed: every bound queue has it durably.
 *  - unpublished: certainly not published (never written, nacked, returned, or the connection is down or blocked).
 *  - refused: certainly not published, and because of the message itself (its size): another connection will not help.
 *  - unknown: written, and no answer came in time or the channel was lost: it may or may not be there. */
export type PublishResult = { readonly outcome: 'confirmed' } | { readonly outcome: 'unpublished' | 'refused' | 'unknown'; readonly reason: string };

export type DeadLetterSelection = {
  /** Only those from this queue of the topology. */
  readonly queue?: string | undefined;
  readonly where?: (deadLetter: DeadLetter) => boolean;
  /** Most that are listed, read, returned or dropped. */
  readonly limit: number;
  /** Most that are looked at, the oldest; all unless given. */
  readonly lookAt?: number;
};

export type DeadLetter = Pick<Message, 'id' | 'type' | 'headers'>;

export type DeadLetterReturn = {
  /** Each has gone back to the one queue that it came from, and is a dead letter no more. */
  readonly returned: number;
  /** Looked at and left where they are: not selected, from none of the topology's queues, or not accepted by the server. */
  readonly kept: number;
};

export type BrokerOptions = {
  readonly log: Log;
  /** How the server's own tools show this connection. */
  readonly name: string;
  /** Called whenever it is connected, the first time and again. */
  readonly onConnected?: () => void;
};

/** A queue with the part of it for redelivered messages. */
export type QueueState = {
  /** As `depth` counts them. */
  readonly waiting: number;
  /** Messages that consumers hold; null where the server does not tell (RabbitMQ). */
  readonly inWork: number | null;
  /** Consumers on RabbitMQ, on the embedded broker sessions that consume. */
  readonly consumers: number;
  /** When the oldest message that waits came there; null for an empty queue, and where the server does not tell (RabbitMQ). */
  readonly oldestAt: Date | null;
};

export type Broker = {
  /** Connected, with its topology declared and not blocked by the server. */
  readonly isConnected: boolean;
  /** Why it is not, or was last not, connected; never holds a password. */
  readonly lastError: string | null;
  /** Resolves when connected; rejects after `timeoutMs` with the last error as its cause, or when it is closed. */
  ready(timeoutMs: number): Promise<void>;
  /** To the topology's exchange, mandatory and confirmed. Never throws; answers `unknown` at the latest after `timeoutMs`. */
  publish(message: Message, timeoutMs: number): Promise<PublishResult>;
  /** Attaches now or as soon as connected, and again after every reconnect, until stopped. Deliveries of a lost
   *  connection are void: their outcomes are dropped, and they come again with `redelivered`, each alone.
   *  `queue` is one of the topology's queues or its dead-letter queue. */
  consume(queue: string, options: ConsumeOptions, handle: BatchHandler): Consumer;
  /** Messages waiting in a queue of the topology: neither those in delayed retry nor those that a consumer holds.
   *  Rejects when not connected. */
  depth(queue: string): Promise<number>;
  /** Rejects when not connected. */
  stateOf(queue: string): Promise<QueueState>;
  /** The dead letters that wait now, oldest first, and without their bodies; they stay as they are. Rejects when not connected. */
  listDeadLetters(selection: DeadLetterSelection): Promise<readonly DeadLetter[]>;
  /** Sends dead letters back to the queue that their `x-dead-queue` names, oldest first and each once: those that are there when it begins.
   *  They are as they were before they died, attempt 1 and none of the headers, but for `x-dead-returns`, which is one more. No other queue
   *  gets a copy. Each is confirmed before its dead letter goes, so that one may come twice and none is lost.
   *  Rejects when not connected, or no longer: what was returned by then stays so. */
  returnDeadLetters(selection: DeadLetterSelection): Promise<DeadLetterReturn>;
  /** The same dead letters with their bodies, one at a time. */
  readDeadLetters(selection: DeadLetterSelection): AsyncIterable<Message>;
  /** Deletes dead letters for good. @returns how many; rejects like `returnDeadLetters` */
  dropDeadLetters(selection: DeadLetterSelection): Promise<number>;
  /** Stops consumers, waits a moment for pending publishes, closes the connection. */
  close(): Promise<void>;
};
