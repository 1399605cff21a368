// Consumes a queue of the embedded broker: claims a batch, keeps the claim alive, settles it in one transaction.
import type { JobWithMetadata } from 'pg-boss';
import type { Log } from '../../log.ts';
import { createBackOff } from '../back-off.ts';
import { workThrough } from '../batch.ts';
import { createBell } from '../bell.ts';
import type { BatchHandler, ConsumeOptions, Consumer, Outcome } from '../broker.ts';
import { describeError } from '../../errors.ts';
import { withTimeout } from '../../time.ts';
import { type StoredMessage, toDelivery } from './message.ts';
import { type EmbeddedSession, heartbeatEveryMs } from './session.ts';

export type ClaimedJob = JobWithMetadata<StoredMessage>;

export type EmbeddedConsumerParts = {
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly handle: BatchHandler;
  readonly settle: (session: EmbeddedSession, jobs: readonly ClaimedJob[], outcomes: readonly Outcome[]) => Promise<void>;
  readonly log: Log;
};

type Settling = {
  readonly session: EmbeddedSession;
  readonly jobs: readonly ClaimedJob[];
  readonly outcomes: readonly Outcome[];
  readonly over: AbortSignal;
};

export type EmbeddedConsumer = Consumer & { attach(session: EmbeddedSession): void };

// New messages ring; what comes due by itself, a retry or the batch of a dead consumer, is found by looking.
const lookEveryMs = 500;
const giveBackMs = 2000;

export function createEmbeddedConsumer({ queue, options, handle, settle, log }: EmbeddedConsumerParts): EmbeddedConsumer {
  const stopping = new AbortController();
  const batchSize = Math.min(options.batchSize, options.prefetch);
  let running: Promise<void> = Promise.resolve();

  async function claim({ boss }: EmbeddedSession): Promise<ClaimedJob[]> {
    const jobs = await boss.fetch<StoredMessage>(queue, { batchSize, includeMetadata: true });
    // The claiming update returns its rows in no order.
    return jobs.sort((a, b) => b.priority - a.priority || a.createdOn.getTime() - b.createdOn.getTime());
  }

  async function work(session: EmbeddedSession, jobs: readonly ClaimedJob[], over: AbortSignal): Promise<void> {
    const touch = () => session.boss.touch(queue, [...jobs]).catch((error: unknown) => log.debug({ error }, 'a heartbeat failed'));
    const heartbeat = setInterval(() => void touch(), heartbeatEveryMs);
    try {
      const outcomes = over.aborted ? undefined : await workThrough(jobs.map(toDelivery), handle, { queue, signal: over, stopping: stopping.signal, log });
      if (outcomes === undefined || !(await settleThrough({ session, jobs, outcomes, over }))) await giveBack(session, jobs);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** False when it could not be settled: it goes back, and its messages will be seen again. */
  async function settleThrough({ session, jobs, outcomes, over }: Settling): Promise<boolean> {
    const backOff = createBackOff();
    while (!session.lost.aborted) {
      try {
        await settle(session, jobs, outcomes);
        return true;
      } catch (error) {
        log.warn({ queue, reason: describeError(error) }, 'cannot settle a batch; trying on');
      }
      if (!(await backOff.pause(over))) return false;
    }
    return false;
  }

  // Only for speed: what is not given back comes back when its heartbeats are missed.
  async function giveBack(session: EmbeddedSession, jobs: readonly ClaimedJob[]): Promise<void> {
    if (session.lost.aborted) return;
    const given = session.boss.fail(queue, [...jobs]).catch((error: unknown) => log.debug({ error }, 'cannot give a batch back'));
    await withTimeout<unknown>(given, giveBackMs, () => undefined);
  }

  async function run(session: EmbeddedSession): Promise<void> {
    const over = AbortSignal.any([session.lost, stopping.signal]);
    const bell = createBell(over);
    const unsubscribe = session.onMessage((name) => name === queue && bell.ring());
    let backOff = createBackOff();
    while (!over.aborted) {
      try {
        bell.reset();
        const jobs = await claim(session);
        backOff = createBackOff();
        if (jobs.length === 0) await bell.wait(lookEveryMs);
        else await work(session, jobs, over);
      } catch (error) {
        log.debug({ queue, error }, 'cannot claim a batch');
        await backOff.pause(over);
      }
    }
    unsubscribe();
  }

  return {
    // A handler may still be at a batch of the session before.
    attach: (session) => void (running = running.then(() => run(session))),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
