// What follows from a handler's outcome or from a failure: retries, dead letters, pauses. The same for both adapters.
import { storable } from '../json.ts';
import { backOffMs, sleepUntil } from '../time.ts';
import type { Delivery, Message, Outcome, QueueTopology, Topology } from './broker.ts';

export type Decision =
  | { readonly kind: 'ack' }
  /** `step` counts from 1: the first of the queue's waits. */
  | { readonly kind: 'retry'; readonly step: number; readonly delayMs: number }
  | { readonly kind: 'dead'; readonly reason: string };

type QueueRules = {
  readonly name: string;
  readonly retryDelaysMs: readonly number[];
  readonly isDeadLetterQueue: boolean;
};

/** Between attempts to connect, to move a message, and to hand over a batch whose handler threw. */
export const failurePause = { firstMs: 100, longestMs: 5000 };

/** @returns false when the signal ended the pause */
export const pauseAfterFailure = (failures: number, signal: AbortSignal): Promise<boolean> => sleepUntil(signal, backOffMs(failures, failurePause));

// A header has to fit one AMQP frame, and jsonb takes neither NUL nor half a surrogate pair.
const longestReason = 2000;
const headerText = (reason: string) => storable(reason.slice(0, longestReason));

export function queueRules(topology: Topology, name: string): QueueRules {
  if (name === topology.deadLetters.queue) return { name, retryDelaysMs: [], isDeadLetterQueue: true };
  const queue = topology.queues.find((one) => one.name === name);
  if (!queue) throw new TypeError(`queue must be one of the topology's, got "${name}"`);
  return { name, retryDelaysMs: queue.retryDelaysMs, isDeadLetterQueue: false };
}

export function decide(outcome: Outcome, attempt: number, rules: QueueRules): Decision {
  if (outcome === 'ack') return { kind: 'ack' };
  if ('deadLetter' in outcome) return { kind: 'dead', reason: headerText(outcome.deadLetter) };
  const delayMs = rules.retryDelaysMs[attempt - 1];
  return delayMs === undefined ? { kind: 'dead', reason: headerText(outcome.retry) } : { kind: 'retry', step: attempt, delayMs };
}

/** The message as it goes to the dead-letter queue. One that is there already keeps the queue it came from. */
export function deadLetter(delivery: Delivery, reason: string, rules: QueueRules): Delivery {
  const from = (rules.isDeadLetterQueue ? delivery.headers['x-dead-queue'] : undefined) ?? rules.name;
  const headers = { ...delivery.headers, 'x-dead-reason': reason, 'x-dead-queue': from, 'x-dead-at': new Date().toISOString() };
  return { ...delivery, headers };
}

/**
 * What decides about a dead letter that may go back.
 * @param from only dead letters from this queue; undefined for any
 * @returns the queue that it goes back to, or undefined when it stays
 */
export function returnPolicy({ queues }: Topology, from: string | undefined): (deadLetter: Pick<Message, 'headers'>) => QueueTopology | undefined {
  if (from !== undefined && !queues.some(({ name }) => name === from)) throw new TypeError(`queue must be one of the topology's, got "${from}"`);
  return ({ headers }) => queues.find(({ name }) => name === headers['x-dead-queue'] && (from === undefined || name === from));
}

/** The message as it was before it was dead-lettered. */
export function withoutDeath({ headers, ...message }: Message): Message {
  const { 'x-dead-reason': _reason, 'x-dead-queue': _queue, 'x-dead-at': _at, ...before } = headers;
  return { ...message, headers: before };
}
