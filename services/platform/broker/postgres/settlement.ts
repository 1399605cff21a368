// Carries out outcomes on the embedded broker, a whole batch in one transaction.
import type { Db } from 'pg-boss';
import type { Log } from '../../log.ts';
import type { Topology, Outcome } from '../broker.ts';
import type { ClaimedJob } from './consumer.ts';
import { toDelivery, toJob, toStored } from './message.ts';
import type { EmbeddedSession } from './session.ts';
import { deadLetter, type Decision, decide, queueRules } from '../retry-policy.ts';

type Move = { readonly job: ClaimedJob; readonly decision: Exclude<Decision, { kind: 'ack' }> };

export function createEmbeddedSettlement(topology: Topology, queueName: string, log: Log) {
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
