// Consumes a queue of the embedded broker: claims a batch, keeps the claim alive, carries out all outcomes in one transaction.
import type { Db, JobWithMetadata } from 'pg-boss';
import { describeError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { createWakeUp, withTimeout } from '../../time.ts';
import { finishWithin, handOver } from '../batch.ts';
import type { BatchHandler, ConsumeOptions, Outcome, Topology } from '../broker.ts';
import { deadLetter, type Decision, decide, pauseAfterFailure, queueRules } from '../retry-policy.ts';
import { type StoredMessage, toDelivery, toJob, toStored } from './message.ts';
import { type EmbeddedSession, heartbeatEveryMs } from './session.ts';

type ClaimedJob = JobWithMetadata<StoredMessage>;

type EmbeddedConsumerParts = {
  readonly queue: string;
  readonly options: ConsumeOptions;
  readonly handle: BatchHandler;
  readonly topology: Topology;
  readonly log: Log;
};

export type EmbeddedConsumer = ReturnType<typeof createEmbeddedConsumer>;

// New messages notify; what comes due by itself, a retry or the batch of a dead consumer, is found by looking.
const lookEveryMs = 500;
const giveBackMs = 2000;
/** What Postgres may still take for a statement when the consumer is told to stop. */
const lastStatementMs = 3000;

export function createEmbeddedConsumer({ queue, options, handle, topology, log }: EmbeddedConsumerParts) {
  const stopping = new AbortController();
  const acknowledge = createAcknowledge(topology, queue, log);
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
      const outcomes = over.aborted ? undefined : await handOver(jobs.map(toDelivery), handle, { queue, signal: over, stopping: stopping.signal, log });
      const isSettled = outcomes !== undefined && !session.lost.aborted && (await settle(over, () => acknowledge(session, jobs, outcomes)));
      if (!isSettled && !session.lost.aborted) await giveBack(session, jobs);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** False when it failed to the end: the batch goes back, and its messages will be seen again. */
  async function settle(over: AbortSignal, carryOut: () => Promise<void>): Promise<boolean> {
    for (let failures = 1; ; failures += 1) {
      try {
        await finishWithin(lastStatementMs, stopping.signal, carryOut());
        return true;
      } catch (error) {
        log.warn({ queue, reason: describeError(error) }, 'acknowledging a batch failed, retrying');
      }
      if (!(await pauseAfterFailure(failures, over))) return false;
    }
  }

  // Only for speed: what is not given back comes back when its heartbeats are missed.
  async function giveBack(session: EmbeddedSession, jobs: readonly ClaimedJob[]): Promise<void> {
    const given = session.boss.fail(queue, [...jobs]).catch((error: unknown) => log.debug({ error }, 'cannot give a batch back'));
    await withTimeout<unknown>(given, giveBackMs, () => undefined);
  }

  async function run(session: EmbeddedSession): Promise<void> {
    const over = AbortSignal.any([session.lost, stopping.signal]);
    const wakeUp = createWakeUp(over);
    const arrived = (name: string) => name === queue && wakeUp.wake();
    session.database.arrivals.on('message', arrived);
    let failures = 0;
    while (!over.aborted) {
      try {
        wakeUp.reset();
        const jobs = await finishWithin(lastStatementMs, stopping.signal, claim(session));
        failures = 0;
        if (jobs.length === 0) await wakeUp.pause(lookEveryMs);
        else await work(session, jobs, over);
      } catch (error) {
        log.debug({ queue, error }, 'cannot claim a batch');
        failures += 1;
        await pauseAfterFailure(failures, over);
      }
    }
    session.database.arrivals.off('message', arrived);
  }

  return {
    // A handler may still be at a batch of the session before.
    attach: (session: EmbeddedSession): void => void (running = running.then(() => run(session))),
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}

type Move = { readonly job: ClaimedJob; readonly decision: Exclude<Decision, { kind: 'ack' }> };

function createAcknowledge(topology: Topology, queueName: string, log: Log) {
  const rules = queueRules(topology, queueName);
  const queue = topology.queues.find((one) => one.name === queueName) ?? { prioritised: false };

  async function move({ boss }: EmbeddedSession, { job, decision }: Move, db: Db): Promise<void> {
    // Deleting first asks whether the claim still holds; when another consumer has it by now, the outcome is its own.
    const deleted = await boss.deleteJob(queueName, job, { db });
    if (!('affected' in deleted) || deleted.affected !== 1) return;
    if (decision.kind === 'retry') {
      const copy = toJob({ ...job.data, attempt: job.data.attempt + 1 }, queue, decision.delayMs);
      await boss.insert(queueName, [copy], { db });
      return;
    }
    const { id, type, attempt } = job.data;
    log.error({ queue: queueName, id, type, attempt, reason: decision.reason }, 'dead-lettered');
    const dead = toStored(deadLetter(toDelivery(job), decision.reason, rules), 1);
    await boss.insert(topology.deadLetters.queue, [toJob(dead, { prioritised: false })], { db });
  }

  return async (session: EmbeddedSession, jobs: readonly ClaimedJob[], outcomes: readonly Outcome[]): Promise<void> => {
    const decided = jobs.map((job, index) => ({ job, decision: decide(outcomes[index] ?? { retry: 'no outcome' }, job.data.attempt, rules) }));
    const done = decided.filter(({ decision }) => decision.kind === 'ack').map(({ job }) => job);
    const moves = decided.filter((one): one is Move => one.decision.kind !== 'ack');
    // Done is gone: a deleted job leaves a smaller table than one kept as completed.
    if (moves.length === 0) {
      await session.boss.deleteJob(queueName, done);
      return;
    }
    await session.database.transaction(async (db) => {
      if (done.length > 0) await session.boss.deleteJob(queueName, done, { db });
      for (const one of moves) await move(session, one, db);
    });
  };
}
