// Hands a batch to its handler until there are outcomes, and decides on retries and dead letters. Both adapters use it.
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describeError } from '../errors.ts';
import type { Log } from '../log.ts';
import { storable } from '../json.ts';
import { backOffMs, sleepUntil, withTimeout } from '../time.ts';
import type { BatchHandler, ConsumeOptions, Delivery, Message, Outcome, QueueTopology, Topology } from './broker.ts';

export type Decision =
  | { readonly kind: 'ack' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** To the queue of those that are handled alone. */
  | { readonly kind: 'alone'; readonly attempt: number }
  /** The message is as it goes to the dead-letter queue. */
  | { readonly kind: 'dead'; readonly message: Message };

type HandOverParts = {
  readonly queue: string;
  /** For the consumer of `redeliveredQueue(queue)`. */
  readonly isAlone?: boolean;
  readonly topology: Topology;
  readonly handle: BatchHandler;
  readonly giveUp: ConsumeOptions['giveUp'];
  readonly log: Log;
};

/** `over` ends the retries: the connection is lost, or the consumer stops. From `stopping` on a handler that is under way has its last 10 s. */
type Signals = { readonly over: AbortSignal; readonly stopping: AbortSignal };

export type HandOver = ReturnType<typeof createHandOver>;

/** The time left to a handler after its consumer was stopped: a database that hangs must not hold the process. */
const lastBatchMs = 10_000;

/**
 * Where deliveries go that came back from a consumer without an answer. They are handled one by one, with nothing else in work, so that
 * one which ends its process, by its size perhaps, is found: it counts as tried, and those beside it do not.
 * First in, first out: one that ended a consumer goes behind the others, and consumers killed for another reason do not end it again.
 */
export const redeliveredQueue = (queue: string) => `${queue}.redelivered`;

/** Serialises both consumers of a queue, so that a redelivered message is the only one in memory and has left its queue before it is handled. */
export function createTurns(handle: BatchHandler) {
  let last: Promise<unknown> = Promise.resolve();
  /** The next batch is handed over when this is done, too. */
  function holdNext<T>(work: Promise<T>): Promise<T> {
    last = Promise.allSettled([last, work]);
    return work;
  }
  const inTurn: BatchHandler = (batch, stopping) => holdNext(last.then(() => handle(batch, stopping)));
  return { holdNext, inTurn };
}

type Decided<Item> = Item & { readonly decision: Decision };

/** For the consumer of one queue. @throws TypeError when the topology has no such queue */
export function createHandOver({ queue, isAlone = false, topology, handle, giveUp, log }: HandOverParts) {
  const isDeadLetters = queue === topology.deadLetters.queue;
  const retryDelaysMs = isDeadLetters ? [] : queueOf(topology, queue).retryDelaysMs;
  /** Its id: a consumer that gets it a second time has lost its connection, and did not end because of it. */
  let lastAlone: string | undefined;

  async function decide(delivery: Delivery, outcome: Outcome = { retry: 'no outcome' }): Promise<Decision> {
    if (outcome === 'ack') return { kind: 'ack' };
    if (outcome === 'requeue') return isDeadLetters ? { kind: 'dead', message: delivery } : { kind: 'alone', attempt: delivery.attempt };
    const { id, type, attempt } = delivery;
    const delayMs = 'retry' in outcome ? retryDelaysMs[attempt - 1] : undefined;
    if (delayMs !== undefined) return { kind: 'retry', delayMs };
    const given = 'retry' in outcome ? outcome.retry : outcome.deadLetter;
    const answer = (await giveUp?.(delivery, given)) ?? { deadLetter: given };
    if (answer === 'ack') return { kind: 'ack' };
    const reason = headerText(answer.deadLetter);
    log.error({ queue, id, type, attempt, reason }, 'dead-lettered');
    // A dead letter keeps the queue that it came from.
    const from = (isDeadLetters ? delivery.headers['x-dead-queue'] : undefined) ?? queue;
    const cause = (isDeadLetters ? delivery.headers['x-dead-cause'] : undefined) ?? ('retry' in outcome ? 'failed' : 'refused');
    const death = { 'x-dead-reason': reason, 'x-dead-queue': from, 'x-dead-at': new Date().toISOString(), 'x-dead-cause': cause };
    return { kind: 'dead', message: { ...delivery, headers: { ...delivery.headers, ...death } } };
  }

  async function decideRedelivered(delivery: Delivery): Promise<Decision> {
    const { id, type, attempt } = delivery;
    if (!isAlone || id === lastAlone) return { kind: 'alone', attempt };
    // The end of a consumer that led here counts, too, for it alone.
    const decision = await decide({ ...delivery, attempt: attempt + 1 }, { retry: 'its consumer ended without an answer, with nothing else in work' });
    if (decision.kind !== 'retry') return decision;
    log.warn({ queue, id, type, attempt }, 'consumer ended while it handled this delivery alone, retrying');
    return { kind: 'alone', attempt: attempt + 1 };
  }

  async function decideAll<Item extends { readonly delivery: Delivery }>(items: readonly Item[], stopping: AbortSignal): Promise<Decided<Item>[]> {
    const { back = [], fresh = [] } = separate(items);
    const decided: Decided<Item>[] = [];
    for (const item of back) decided.push({ ...item, decision: await decideRedelivered(item.delivery) });
    if (fresh.length === 0) return decided;
    if (isAlone) lastAlone = fresh[0]?.delivery.id;
    const batch = fresh.map(({ delivery }) => (isAlone ? { ...delivery, redelivered: true } : delivery));
    const outcomes = await traceBatch(`${queue} batch`, batch, () => handle(batch, stopping));
    if (outcomes.length !== batch.length) throw new TypeError(`a handler must give one outcome for each of ${batch.length} deliveries, got ${outcomes.length}`);
    for (const [index, item] of fresh.entries()) decided.push({ ...item, decision: await decide(item.delivery, outcomes[index]) });
    return decided;
  }

  const separate = <Item extends { readonly delivery: Delivery }>(items: readonly Item[]) =>
    Object.groupBy(items, ({ delivery }) => (delivery.redelivered && !isDeadLetters ? 'back' : 'fresh'));

  /** Undefined when the handler threw and `over` ended the pause after it: the batch is void, or goes back. */
  return async <Item extends { readonly delivery: Delivery }>(items: readonly Item[], { over, stopping }: Signals): Promise<Decided<Item>[] | undefined> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await finishWithin(lastBatchMs, stopping, decideAll(items, stopping));
      } catch (error) {
        log.warn({ error, queue, deliveries: items.length, failures }, 'batch failed as a whole, retrying with back-off');
      }
      if (await pauseAfterFailure(failures, over)) continue;
      const { fresh = [] } = separate(items);
      if (!isAlone || fresh.length === 0) return undefined;
      // A delivery that is handled alone goes back by a decision: returned as it is, it would count as the reason that its consumer ended.
      return fresh.map((item) => ({ ...item, decision: { kind: 'alone', attempt: item.delivery.attempt } }));
    }
  };
}

/** Runs `work` in a span that goes on with the trace of the batch's first message and links those of the others; without a receiver of traces it is only run. */
async function traceBatch<T>(name: string, batch: readonly Delivery[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = batch.map(({ headers }) => propagation.extract(ROOT_CONTEXT, headers));
  const links = others.flatMap((other) => trace.getSpanContext(other) ?? []).map((linked) => ({ context: linked }));
  const attributes = { 'messaging.batch.message_count': batch.length };
  const span = trace.getTracer('signalbox').startSpan(name, { kind: SpanKind.CONSUMER, links, attributes }, first);
  try {
    return await context.with(trace.setSpan(first ?? ROOT_CONTEXT, span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: describeError(error) });
    throw error;
  } finally {
    span.end();
  }
}

/** @throws TypeError when the topology has no such queue */
export function queueOf({ queues }: Topology, name: string): QueueTopology {
  const queue = queues.find((one) => one.name === name);
  if (!queue) throw new TypeError(`queue must be one of the topology's, got "${name}"`);
  return queue;
}

// A header has to fit one AMQP frame, and jsonb takes neither NUL nor half a surrogate pair.
const longestReason = 2000;
const headerText = (reason: string) => storable(reason.slice(0, longestReason));

/** How often it was sent back from the dead letters. A header that says something else is none. */
export function returnsOf({ headers }: Pick<Message, 'headers'>): number {
  const count = headers['x-dead-returns'] ?? '';
  return /^\d{1,6}$/.test(count) ? Number(count) : 0;
}

/** The message as it was before it was dead-lettered, sent back once more. */
export function withoutDeath({ headers, ...message }: Message): Message {
  const { 'x-dead-reason': _reason, 'x-dead-queue': _queue, 'x-dead-at': _at, 'x-dead-cause': _cause, ...before } = headers;
  return { ...message, headers: { ...before, 'x-dead-returns': String(returnsOf({ headers }) + 1) } };
}

/** Between attempts to connect, to move a message, and to hand over a batch whose handler threw. After an outage work goes on within the longest. */
export const failurePause = { firstMs: 100, longestMs: 2000 };

/** @returns false when the signal ended the pause */
export const pauseAfterFailure = (failures: number, signal: AbortSignal): Promise<boolean> => sleepUntil(signal, backOffMs(failures, failurePause));

/** A server may start beside this process, as all pods of a new installation do. */
const serverStartMs = 120_000;

/** The log lines of one connection: a warning while its server may be starting, an error from then on, and at once after a connection that there was. */
export function createConnectFailures(log: Log, message: string, now = () => performance.now()) {
  const startedBy = now() + serverStartMs;
  let isExpected = true;
  let last: string | undefined;
  return {
    failed(reason: string): void {
      isExpected &&= now() < startedBy;
      const level = isExpected ? 'warn' : 'error';
      // The same fault every two seconds is one line, not a flood.
      if (last !== level + reason) log[level]({ reason }, message);
      last = level + reason;
    },
    connected(): void {
      isExpected = false;
      last = undefined;
    },
  };
}

/** The work, which has `ms` left once `stopping` is aborted. */
export async function finishWithin<T>(ms: number, stopping: AbortSignal, work: Promise<T>): Promise<T> {
  const stopped = Promise.withResolvers<void>();
  const onStop = () => stopped.resolve();
  if (stopping.aborted) onStop();
  stopping.addEventListener('abort', onStop, { once: true });
  try {
    await Promise.race([work, stopped.promise]);
  } finally {
    stopping.removeEventListener('abort', onStop);
  }
  if (!stopping.aborted) return work;
  return withTimeout(work, ms, () => {
    throw new Error(`timed out: its consumer stops, and ${ms} ms have passed`);
  });
}
