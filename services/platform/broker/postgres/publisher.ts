// Publishes to the embedded broker: what arrives while a transaction runs shares the next one.
import pg from 'pg';
import { describeError } from '../../errors.ts';
import type { Message, PublishResult, Topology } from '../broker.ts';
import { type StoredMessage, toJob, toStored } from './message.ts';
import { CommitUnknown, type EmbeddedSession } from './session.ts';

type PendingPublish = {
  readonly message: Message;
  readonly answer: (result: PublishResult) => void;
};

// A transaction of more gains nothing, and holds up the publisher of the first.
const mostMessages = 200;
const mostBytes = 8 * 1024 * 1024;
/** jsonb holds 256 MiB in one text, which is the body in base64. */
const largestBodyBytes = 128 * 1024 * 1024;

export function createEmbeddedPublisher(topology: Topology) {
  let session: EmbeddedSession | null = null;
  const waiting = new Set<PendingPublish>();
  let running: Promise<void> | null = null;

  function take(): PendingPublish[] {
    const batch: PendingPublish[] = [];
    let bytes = 0;
    for (const pending of waiting) {
      bytes += pending.message.body.length;
      if (batch.length === mostMessages || (batch.length > 0 && bytes > mostBytes)) break;
      waiting.delete(pending);
      batch.push(pending);
    }
    return batch;
  }

  // One copy for each queue, all or none.
  async function write({ boss, database }: EmbeddedSession, batch: readonly PendingPublish[]): Promise<void> {
    const stored: StoredMessage[] = batch.map(({ message }) => toStored(message, 1));
    await database.transaction(async (db) => {
      for (const queue of topology.queues)
        await boss.insert(
          queue.name,
          stored.map((data) => toJob(data, queue)),
          { db },
        );
    });
  }

  async function publishAll(to: EmbeddedSession, batch: readonly PendingPublish[]): Promise<void> {
    let result: PublishResult = { outcome: 'confirmed' };
    try {
      await write(to, batch);
    } catch (error) {
      // One message that Postgres cannot hold must not take the others with it.
      if (isAboutContent(error) && batch.length > 1) {
        for (const pending of batch) await publishAll(to, [pending]);
        return;
      }
      const reason = describeError(error);
      const outcome = isAboutContent(error) ? 'refused' : error instanceof CommitUnknown ? 'unknown' : 'unpublished';
      result = { outcome, reason };
    }
    for (const pending of batch) pending.answer(result);
  }

  async function run(): Promise<void> {
    while (session && waiting.size > 0) await publishAll(session, take());
  }

  function wake(): void {
    running ??= run().finally(() => {
      running = null;
      if (session && waiting.size > 0) wake();
    });
  }

  return {
    open(opened: EmbeddedSession): void {
      session = opened;
    },
    lose(reason: string): void {
      session = null;
      for (const pending of waiting) pending.answer({ outcome: 'unpublished', reason });
      waiting.clear();
    },
    publish(message: Message, timeoutMs: number): Promise<PublishResult> {
      if (message.body.length > largestBodyBytes) {
        return Promise.resolve({ outcome: 'refused', reason: `larger than the ${largestBodyBytes} bytes that the embedded broker takes` });
      }
      return new Promise((resolve) => {
        const pending: PendingPublish = {
          message,
          answer(result) {
            clearTimeout(timer);
            resolve(result);
          },
        };
        const timer = setTimeout(() => {
          const isUnwritten = waiting.delete(pending);
          resolve({ outcome: isUnwritten ? 'unpublished' : 'unknown', reason: 'the embedded broker did not answer in time' });
        }, timeoutMs);
        waiting.add(pending);
        wake();
      });
    },
    /** Resolves when no publish is pending. */
    async idle(): Promise<void> {
      while (running) await running;
    },
  };
}

// SQLSTATE classes 22, data exception (NUL or half a surrogate pair in a text), and 54, program limit exceeded.
const isAboutContent = (error: unknown) => error instanceof pg.DatabaseError && /^(22|54)/.test(error.code ?? '');
