// Consumes a queue of the embedded broker: claims a batch, keeps the claim alive, carries out all outcomes in one transaction.
import type { JobWithMetadata } from 'pg-boss';
import { describeError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { createWakeUp, withTimeout } from '../../time.ts';
import type { Source } from '../adapter.ts';
import type { ConsumeOptions, Delivery, Topology } from '../broker.ts';
import { type Decision, finishWithin, type HandOver, pauseAfterFailure, redeliveredQueue } from '../outcomes.ts';
import { type StoredMessage, toDelivery, toJob, toStored } from './message.ts';
import { type EmbeddedSession, heartbeatEveryMs } from './session.ts';

type ClaimedJob = JobWithMetadata<StoredMessage>;
type Decided = { readonly job: ClaimedJob; readonly delivery: Delivery; readonly decision: Decision };

type EmbeddedConsumerParts = {
  readonly source: Source;
  /** pg-boss' jobs. */
  readonly table: string;
  readonly options: ConsumeOptions;
  readonly handOver: HandOver;
  readonly topology: Topology;
  readonly log: Log;
};

export type EmbeddedConsumer = ReturnType<typeof createEmbeddedConsumer>;

// New messages notify; what comes due by itself, a retry or the batch of a dead consumer, is found by looking.
const lookEveryMs = 500;
const giveBackMs = 2000;
/** The time left to a statement of Postgres after the consumer was stopped. */
const lastStatementMs = 3000;

export function createEmbeddedConsumer({ source: { queue, from }, table, options, handOver, topology, log }: EmbeddedConsumerParts) {
  const stopping = new AbortController();
  const batchSize = Math.min(options.batchSize, options.prefetch);
  let running: Promise<void> = Promise.resolve();

  /** How many of the next stay within `maxBytes`; a guess where other consumers claim at the same time. */
  async function countWithinBytes({ database }: EmbeddedSession): Promise<number> {
    const next = `select priority, created_on, id, pg_column_size(data) as bytes from ${table}
      where name = $1 and state < 'active' and not blocked and start_after <= now() order by priority desc, created_on limit $2`;
    const sums = `select sum(bytes) over (order by priority desc, created_on, id) as bytes from (${next}) as next`;
    const counted = await database.executeSql(`select from (${sums}) as sums where bytes <= $3`, [from, batchSize, options.maxBytes]);
    return counted.rows.length;
  }

  async function claim(session: EmbeddedSession): Promise<ClaimedJob[]> {
    const within = options.maxBytes === undefined ? batchSize : Math.max(1, await countWithinBytes(session));
    const jobs = await session.boss.fetch<StoredMessage>(from, { batchSize: within, includeMetadata: true });
    // The claiming update returns its rows in no order.
    return jobs.sort((a, b) => b.priority - a.priority || a.createdOn.getTime() - b.createdOn.getTime());
  }

  async function work(session: EmbeddedSession, jobs: readonly ClaimedJob[], over: AbortSignal): Promise<void> {
    const touch = () => session.boss.touch(from, [...jobs]).catch((error: unknown) => log.debug({ error }, 'a heartbeat failed'));
    const heartbeat = setInterval(() => void touch(), heartbeatEveryMs);
    try {
      const batch = jobs.map((job) => ({ job, delivery: toDelivery(job) }));
      const decided = over.aborted ? undefined : await handOver(batch, { over, stopping: stopping.signal });
      const isSettled = decided !== undefined && !session.lost.aborted && (await trySettling(over, () => settle(session, decided)));
      if (!isSettled && !session.lost.aborted) await giveBack(session, jobs);
    } finally {
      clearInterval(heartbeat);
    }
  }

  /** False when it failed to the end: the batch goes back, and its messages will be seen again. */
  async function trySettling(over: AbortSignal, carryOut: () => Promise<void>): Promise<boolean> {
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
    const given = session.boss.fail(from, [...jobs]).catch((error: unknown) => log.debug({ error }, 'cannot give a batch back'));
    await withTimeout<unknown>(given, giveBackMs, () => undefined);
  }

  const prioritised = topology.queues.some((one) => one.name === queue && one.prioritised);

  /** All in one transaction. */
  async function settle({ boss, database }: EmbeddedSession, decided: readonly Decided[]): Promise<void> {
    const done = decided.filter(({ decision }) => decision.kind === 'ack').map(({ job }) => job);
    // Done is gone: a deleted job leaves a smaller table than one kept as completed.
    if (done.length === decided.length) return void (await boss.deleteJob(from, done));
    await database.transaction(async (db) => {
      if (done.length > 0) await boss.deleteJob(from, done, { db });
      for (const { job, decision } of decided) {
        if (decision.kind === 'ack') continue;
        // Deleting first asks whether the claim still holds; when another consumer has it by now, the outcome is its own.
        const deleted = await boss.deleteJob(from, job, { db });
        if (!('affected' in deleted) || deleted.affected !== 1) continue;
        if (decision.kind === 'retry')
          await boss.insert(queue, [toJob({ ...job.data, attempt: job.data.attempt + 1 }, { prioritised }, decision.delayMs)], { db });
        else if (decision.kind === 'alone')
          await boss.insert(redeliveredQueue(queue), [toJob({ ...job.data, attempt: decision.attempt }, { prioritised: false })], { db });
        else await boss.insert(topology.deadLetters.queue, [toJob(toStored(decision.message, 1), { prioritised: false })], { db });
      }
    });
  }

  async function run(session: EmbeddedSession): Promise<void> {
    const over = AbortSignal.any([session.lost, stopping.signal]);
    const wakeUp = createWakeUp(over);
    const arrived = (name: string) => name === from && wakeUp.wake();
    session.database.arrivals.on('message', arrived);
    void session.database.consumes(from);
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
    if (!session.lost.aborted) void session.database.ended(from);
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
