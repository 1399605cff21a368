// Replays: the rules and the typed tables once more, for stored events. The job, which any later run can go on with.
import { describeError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { isOutage } from '../../platform/postgres/errors.ts';
import { type IsOwn, writeEvents } from '../forge/database-service-worker.ts';
import { type Counts, type Job, Stopped } from '../jobs/runner.ts';
import type { Rules } from '../notifications/rules.ts';
import { outboxRows } from '../outbox-rows.ts';
import type { ConfiguredSource } from '../sources/source.ts';
import { finishDelivery } from '../typed/store.ts';
import { createReplayStore, type ReplayedEvent, type WaitingEvent } from './store.ts';
import { type ReadEvent, readStored } from './stored-delivery.ts';

const batchEvents = 50;
/** Payloads in memory at once; a single one may be larger. */
const batchBytes = 16 * 1024 * 1024;

export type ReplayParts = {
  readonly database: Database;
  readonly rules: Pick<Rules, 'match'>;
  readonly sources: readonly ConfiguredSource[];
  readonly isOwn: IsOwn;
  readonly maxPayloadValues: number;
  /** Called when there may be something to send. */
  readonly wake: () => void;
  readonly log: Log;
};

/** @param prepare stores the events of the run */
export function createReplayJob(parts: ReplayParts, prepare: (runId: string) => Promise<void>): Job {
  const store = createReplayStore(parts.database);
  let runId = '';
  return {
    name: 'replay',
    isExclusive: true,
    prepare(accepted) {
      runId = accepted;
      return prepare(accepted);
    },
    async run({ counts, stopping }) {
      for (;;) {
        if (stopping.aborted) throw new Stopped();
        const waiting = bounded(await store.next(runId, batchEvents));
        if (waiting.length === 0) break;
        await replayEach(waiting, { ...parts, runId, counts });
      }
      parts.wake();
    },
  };
}

function bounded(waiting: readonly WaitingEvent[]): readonly WaitingEvent[] {
  let bytes = 0;
  const end = waiting.findIndex((event, index) => (bytes += event.bytes) > batchBytes && index > 0);
  return end < 0 ? waiting : waiting.slice(0, end);
}

type RunParts = ReplayParts & { readonly runId: string; readonly counts: Counts };

/** All in one transaction; when that fails because of one of them, each by itself. @throws what fails for every event alike */
async function replayEach(waiting: readonly WaitingEvent[], parts: RunParts): Promise<void> {
  const { runId, counts, database, log } = parts;
  try {
    const done = await replayBatch(waiting, parts);
    counts.processed += done;
    counts.failed += waiting.length - done;
  } catch (error) {
    if (isOutage(error)) throw error;
    if (waiting.length > 1) {
      for (const one of waiting) await replayEach([one], parts);
      return;
    }
    log.warn({ runId, eventId: waiting[0]?.eventId, error }, 'replaying an event failed, going on with the next one');
    await createReplayStore(database).remove(
      runId,
      waiting.map(({ eventId }) => eventId),
    );
    counts.failed += 1;
  }
}

/** @returns how many could be read */
async function replayBatch(waiting: readonly WaitingEvent[], { runId, database, rules, isOwn, ...parts }: RunParts): Promise<number> {
  const notified = new Map(waiting.map(({ eventId, isNotified }) => [eventId, isNotified]));
  const read = await readAll(await createReplayStore(database).read(waiting), parts);
  await database.transaction(async (inTransaction) => {
    const within = createReplayStore(inTransaction);
    const events = read.flatMap(({ forgeEvent }) => forgeEvent ?? []);
    await writeEvents(inTransaction, events, isOwn);
    for (const { forgeEvent, isKnown } of read) if (forgeEvent && !isKnown) await finishDelivery(inTransaction, forgeEvent.deliveryId);
    const told = read.flatMap((one) => (notified.get(one.notified.id) === true ? [one.notified] : []));
    await within.notify(runId, outboxRows(told, rules));
    await within.remove(runId, [...notified.keys()]);
  });
  return read.length;
}

async function readAll(stored: readonly ReplayedEvent[], { sources, maxPayloadValues, log }: Pick<RunParts, 'sources' | 'maxPayloadValues' | 'log'>) {
  const read: (ReadEvent & Pick<ReplayedEvent, 'isKnown'>)[] = [];
  for (const event of stored) {
    try {
      read.push({ ...(await readStored(event, sources, maxPayloadValues)), isKnown: event.isKnown });
    } catch (error) {
      log.warn({ eventId: event.id, reason: describeError(error) }, 'payload of a stored event cannot be read, going on with the next one');
    }
  }
  return read;
}
