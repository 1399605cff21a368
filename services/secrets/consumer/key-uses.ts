// When each key was last used: noted by reads, written in batches off their path, at most once a minute for a key and process.
import { createBatchWriter } from '../../platform/batches.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';

type KeyUse = { readonly id: string; readonly usedAt: Date };

const writeUses = rowsStatement<unknown, [uses: readonly KeyUse[]]>(
  'keys.used',
  [{ id: 'uuid', usedAt: 'timestamptz' }],
  // Rows are locked in the order of their ids, so that two processes never wait for each other.
  (uses) => `
  update application_keys k set last_used_at = used.used_at
  from (select id from application_keys where id in (select id from ${uses} as named) order by id for no key update) as held
  join (select id, max(used_at) as used_at from ${uses} as given group by id) as used on used.id = held.id
  where k.id = held.id and (k.last_used_at is null or k.last_used_at < used.used_at)`,
);

const everyMs = 60_000;
/** More than an installation has: beyond it all are forgotten, and written once more. */
const maxNoted = 100_000;
const limits = { maxWaiting: maxNoted, batchSize: 1000, pauseMs: 1000, closeMs: 2000 };

export type KeyUses = ReturnType<typeof createKeyUses>;

export function createKeyUses({ database, log }: { readonly database: Database; readonly log: Log }) {
  const noted = new Map<string, number>();
  const writer = createBatchWriter<KeyUse>({
    write: (uses) => database.run(writeUses, uses),
    onFailure: (error) => log.warn({ error }, 'writing the last use of keys failed, retrying'),
    onRefused: (use, error) => log.warn({ error, key: use.id }, 'the last use of a key was refused by the database'),
    limits,
  });
  return {
    /** Never waits and never throws. */
    note(id: string, usedAt: Date): void {
      const before = noted.get(id);
      if ((before !== undefined && usedAt.getTime() - before < everyMs) || !writer.hasRoom) return;
      if (noted.size >= maxNoted) noted.clear();
      noted.set(id, usedAt.getTime());
      writer.add({ id, usedAt });
    },
    /** Writes what waits. Never rejects. */
    close: async (): Promise<void> => void (await writer.close()),
  };
}
