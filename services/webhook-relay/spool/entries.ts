// A spooled delivery to be replayed, from a file or from a row of failed_payloads: how it is loaded, and how the outcome of a try is recorded.
import type { Message } from '../../platform/broker/broker.ts';
import type { Log } from '../../platform/log.ts';
import { type FailedPayload, type FailedPayloads, headerFault } from './failed-payloads.ts';
import { maxTries, refusedText, type SpoolFile } from './file-format.ts';
import { corrupt, type Refusal, type Spool } from './spool.ts';

/**
 * The outcome of a try. published; unavailable: no connection takes messages now; refused: every connection that could be asked refuses
 * this very message; corrupt: it can never be read; skipped: it is gone, or another replica has it; failed: a later try may succeed.
 */
export const outcomes = ['published', 'unavailable', 'refused', 'corrupt', 'skipped', 'failed'] as const;
export type Outcome = (typeof outcomes)[number];

export type Entry = {
  readonly source: 'file' | 'row';
  /** For the log. */
  readonly id: string;
  /** An estimate of its memory while it is loaded. */
  bytes(): Promise<number>;
  /** Undefined when it is gone, or another replica has it. Rejects for a fault that may pass. */
  load(): Promise<{ readonly message: Message } | 'corrupt' | undefined>;
  record(outcome: Outcome): Promise<void>;
};

/** A row arrives as hexadecimal text, twice its size, beside the bytes made from it. */
const rowExpansion = 3;

const refusedByAll: Refusal = {
  reason: refusedText,
  toDo: 'let the broker take larger messages, then signalbox spool retry --given-up',
};

type EntriesParts = { readonly spool: Spool; readonly failedPayloads: FailedPayloads; readonly log: Log };

export function createEntries({ spool, failedPayloads, log }: EntriesParts) {
  // On a disk that became read-only no file can be removed: none of them is published again and again.
  const published = new Set<string>();

  const ofFile = (file: SpoolFile): Entry => ({
    source: 'file',
    id: file.name,
    bytes: () => spool.bytesOf(file),
    load: async () => (published.has(file.name) || !(await spool.own()) ? undefined : spool.read(file)),
    async record(outcome) {
      if (outcome === 'published') published.add(file.name);
      if (published.has(file.name)) {
        await spool.remove(file);
        published.delete(file.name);
      }
      if (outcome !== 'refused') return;
      if (file.tries + 1 < maxTries) await spool.setTries(file, file.tries + 1);
      else await spool.refuse(file, refusedByAll);
    },
  });

  async function refuseRow(id: string, mostTries: number, refusal: Refusal): Promise<void> {
    if (await failedPayloads.countRefusal(id, mostTries)) log.error({ id, ...refusal }, 'spooled delivery refused, its row is kept');
  }

  const ofRow = (row: FailedPayload): Entry => ({
    source: 'row',
    id: row.id,
    bytes: () => Promise.resolve(row.bytes * rowExpansion),
    load: () => failedPayloads.load(row),
    async record(outcome) {
      if (outcome === 'published' && (await failedPayloads.markReplayed(row.id)) === 0)
        log.warn({ id: row.id }, 'lease of a spooled delivery expired while it was published, it is published again');
      if (outcome === 'corrupt') await refuseRow(row.id, 1, corrupt(headerFault));
      if (outcome === 'refused') await refuseRow(row.id, maxTries, refusedByAll);
    },
  });

  return { ofFile, ofRow };
}
