// The rows of failed_payloads, claimed in small batches as the replayer comes to them.
import type { Log } from '../../platform/log.ts';
import { type FailedPayload, type FailedPayloads, type Position, start } from './failed-payloads.ts';
import { corrupt, refusedByAll } from './refusal.ts';
import { mostTries, type Replayable } from './replayable.ts';

const batch = 32;
/** Much longer than the budget of a publication; a replica that died holds its rows back no longer than that. */
const leaseMs = 60_000;
/** A row arrives as hexadecimal text, twice its size, beside the bytes made from it. */
const expansion = 3;

type Parts = {
  readonly failedPayloads: FailedPayloads;
  /** This process. */
  readonly owner: string;
  readonly log: Log;
};

/** Oldest first, each row once: one that is given back waits for the next pass. */
export async function* replayableRows(parts: Parts): AsyncGenerator<Replayable, void> {
  const { failedPayloads, owner } = parts;
  let position: Position = start;
  for (;;) {
    const rows = await failedPayloads.claimDue(position, { limit: batch, owner, leaseMs });
    const unbegun = new Map(rows.map((row) => [row.id, row]));
    try {
      for (const row of rows) {
        unbegun.delete(row.id);
        yield toReplayable(row, parts);
      }
    } finally {
      if (unbegun.size > 0) await failedPayloads.release([...unbegun.keys()], owner);
    }
    const last = rows.at(-1);
    if (!last || rows.length < batch) return;
    position = last;
  }
}

const givenUp = 'a failed payload was refused and is kept aside';
const toTryAgain = 'set refused_at = null and tries = 0 in its row of failed_payloads';

function toReplayable(row: FailedPayload, { failedPayloads, owner, log }: Parts): Replayable {
  const { id } = row;
  return {
    source: 'row',
    id,
    bytes: row.bytes * expansion,
    load: () => failedPayloads.load(row, owner, leaseMs),
    async published() {
      const recorded = await failedPayloads.markReplayed(id, owner);
      if (recorded === 0) log.warn({ id }, 'the lease of a failed payload ran out while it was published, it is published once more');
    },
    async refused() {
      const isLast = await failedPayloads.countRefusal(id, owner, mostTries);
      if (isLast) log.error({ id, ...refusedByAll(mostTries, toTryAgain) }, givenUp);
    },
    async corrupt(what) {
      const recorded = await failedPayloads.giveUp(id, owner);
      if (recorded > 0) log.error({ id, ...corrupt(what) }, givenUp);
    },
    async giveBack() {
      await failedPayloads.release([id], owner);
    },
    async postpone(ms) {
      await failedPayloads.postpone(id, owner, ms);
    },
  };
}
