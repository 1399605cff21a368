// Publishes to the embedded broker: what arrives while a transaction runs shares the next one.
import pg from 'pg';
import { createBatcher } from '../../batches.ts';
import { describeError } from '../../errors.ts';
import { withTimeout } from '../../time.ts';
import type { Message, PublishResult, Topology } from '../broker.ts';
import { toJob, toStored } from './message.ts';
import { CommitUnknown, type EmbeddedSession } from './session.ts';

type PendingPublish = { readonly message: Message; state: 'waiting' | 'written' | 'timed out' };

/** A transaction of more gains nothing, and holds up the publisher of the first: 8 MiB, or 200 small messages. */
const batching = { concurrency: 1, maxWaiting: Infinity, maxBatch: 8 * 1024 * 1024 };
const overheadBytes = batching.maxBatch / 200;
/** jsonb holds 256 MiB in one text, which is the body in base64. */
const largestBodyBytes = 128 * 1024 * 1024;

/** A transaction takes milliseconds. After this the server is asked whether it is there at all: one that is gone is given up sooner. */
const suspectAfterMs = 500;

/** @param sessionNow throws when not connected */
export function createEmbeddedPublisher(topology: Topology, sessionNow: () => EmbeddedSession) {
  // One copy for each queue, all or none.
  async function write(batch: readonly PendingPublish[]): Promise<readonly PublishResult[]> {
    const { boss, database } = sessionNow();
    const inTime = batch.filter(({ state }) => state !== 'timed out');
    for (const pending of inTime) pending.state = 'written';
    const stored = inTime.map(({ message }) => toStored(message, 1));
    const suspicion = setTimeout(() => void database.checkNow(), suspectAfterMs);
    const written = database.transaction(async (db) => {
      for (const queue of topology.queues) {
        const jobs = stored.map((data) => toJob(data, queue));
        await boss.insert(queue.name, jobs, { db });
      }
    });
    await written.finally(() => clearTimeout(suspicion));
    return batch.map(() => ({ outcome: 'confirmed' }));
  }

  const put = createBatcher(write, { ...batching, weightOf: ({ message }) => message.body.length + overheadBytes });

  return async (message: Message, timeoutMs: number): Promise<PublishResult> => {
    if (message.body.length > largestBodyBytes)
      return { outcome: 'refused', reason: `larger than the ${largestBodyBytes} bytes that the embedded broker takes` };
    const pending: PendingPublish = { message, state: 'waiting' };
    const result = put(pending).catch((error: unknown): PublishResult => ({ outcome: failedOutcome(error), reason: describeError(error) }));
    return withTimeout(result, timeoutMs, () => {
      const outcome = pending.state === 'written' ? 'unknown' : 'unpublished';
      pending.state = 'timed out';
      return { outcome, reason: 'the embedded broker did not answer in time' };
    });
  };
}

function failedOutcome(error: unknown) {
  if (error instanceof CommitUnknown) return 'unknown';
  // SQLSTATE classes 22, data exception (NUL or half a surrogate pair in a text), and 54, program limit exceeded.
  return error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '') ? 'refused' : 'unpublished';
}
