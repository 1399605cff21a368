// A spooled delivery as the replayer sees it, whether it lies in a file or in a row of failed_payloads.
import type { Log } from '../../platform/log.ts';
import type { FailedPayload, FailedPayloads } from './failed-payloads.ts';
import type { Corrupt, SpooledDelivery, SpoolFile } from './file-format.ts';
import type { Refusal, Spool } from './spool.ts';

/**
 * What became of a try: published; unavailable: no connection takes messages now; refused: every connection refuses this very message;
 * skipped: it is gone, or another's by now; failed: it may go well later; corrupt: it is unreadable for good.
 */
export const outcomes = ['published', 'unavailable', 'refused', 'corrupt', 'skipped', 'failed'] as const;
export type Attempt = { readonly outcome: Exclude<(typeof outcomes)[number], 'corrupt'> } | { readonly outcome: 'corrupt'; readonly what: string };

export type SpoolEntry = {
  readonly source: 'file' | 'row';
  /** For the log. */
  readonly id: string;
  /** About what it takes in memory while it is loaded. */
  bytes(): Promise<number>;
  /** Undefined when it is gone or somebody else's. Rejects for what may pass. */
  load(): Promise<Pick<SpooledDelivery, 'message'> | Corrupt | undefined>;
  record(attempt: Attempt): Promise<void>;
};

/** A delivery is given up when every connection refused it that often. */
const maxTries = 3;

/** What was found will be the same at every look. */
export const corrupt = (what: string): Refusal => ({ reason: `corrupt: ${what}`, toDo: 'redeliver it from the forge, then delete what is kept here' });

const refusedByAll = (tries: number, toTryAgain: string): Refusal => ({
  reason: `refused by every connection in ${tries} tries`,
  toDo: `mostly it is too large: let the broker take larger messages, then ${toTryAgain}`,
});

export function createFileEntries(spool: Spool): (file: SpoolFile) => SpoolEntry {
  // On a disk that became read-only no file can be removed: none of them is published again and again.
  const published = new Set<string>();

  return (file) => ({
    source: 'file',
    id: file.name,
    bytes: () => spool.bytesOf(file),
    load: async () => (published.has(file.name) || !(await spool.own()) ? undefined : spool.read(file)),
    async record(attempt) {
      if (attempt.outcome === 'published') published.add(file.name);
      if (published.has(file.name)) {
        await spool.remove(file);
        published.delete(file.name);
      }
      const tries = file.tries + 1;
      if (attempt.outcome === 'corrupt') await spool.refuse(file, corrupt(attempt.what));
      else if (attempt.outcome === 'refused' && tries < maxTries) await spool.setTries(file, tries);
      else if (attempt.outcome === 'refused') await spool.refuse(file, refusedByAll(tries, 'move the file from the folder refused one up'));
    },
  });
}

/** A row arrives as hexadecimal text, twice its size, beside the bytes made from it. */
const expansion = 3;

/** @param owner who has claimed the rows: this process */
export function createRowEntries(failedPayloads: FailedPayloads, owner: string, log: Log): (row: FailedPayload) => SpoolEntry {
  async function refuse(id: string, mostTries: number, refusal: Refusal): Promise<void> {
    if (await failedPayloads.countRefusal(id, owner, mostTries)) log.error({ id, ...refusal }, 'spooled delivery refused, its row is kept');
  }

  return (row) => ({
    source: 'row',
    id: row.id,
    bytes: () => Promise.resolve(row.bytes * expansion),
    load: () => failedPayloads.load(row, owner),
    async record(attempt) {
      const { id } = row;
      if (attempt.outcome === 'published' && (await failedPayloads.markReplayed(id, owner)) === 0)
        log.warn({ id }, 'lease of a spooled delivery expired while it was published, it is published again');
      if (attempt.outcome === 'corrupt') await refuse(id, 1, corrupt(attempt.what));
      if (attempt.outcome === 'refused')
        await refuse(id, maxTries, refusedByAll(maxTries, 'set refused_at = null and tries = 0 in its row of failed_payloads'));
      if (attempt.outcome === 'unavailable' || attempt.outcome === 'failed') await failedPayloads.release([id], owner);
    },
  });
}
