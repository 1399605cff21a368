// When each key was last used and each secret last read: noted by reads, written in batches off their path, at most once a minute for one and process.
import { v7 as newId } from 'uuid';
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

type SecretRead = { readonly id: string; readonly secretId: string; readonly environmentId: string; readonly readAt: Date };

const writeReads = rowsStatement<unknown, [reads: readonly SecretRead[]]>(
  'secrets.read',
  [{ id: 'uuid', secretId: 'uuid', environmentId: 'uuid', readAt: 'timestamptz' }],
  // In one order, as above. A secret or environment that was deleted meanwhile has no row.
  (reads) => `
  insert into secret_reads (id, secret_id, environment_id, last_read_at)
  select distinct on (given.secret_id, given.environment_id) given.id, given.secret_id, given.environment_id, given.read_at
  from ${reads} as given join secrets s on s.id = given.secret_id join environments e on e.id = given.environment_id
  order by given.secret_id, given.environment_id, given.read_at desc
  on conflict (secret_id, environment_id) do update set last_read_at = excluded.last_read_at
  where secret_reads.last_read_at < excluded.last_read_at`,
);

const everyMs = 60_000;
/** More than an installation has: beyond it all are forgotten, and written once more. */
const maxNoted = 100_000;
const limits = { maxWaiting: maxNoted, batchSize: 1000, pauseMs: 1000, closeMs: 2000 };

type UsesParts<Use> = { readonly log: Log; readonly what: string; readonly write: (uses: readonly Use[]) => Promise<unknown> };

function createUses<Use>({ log, what, write }: UsesParts<Use>) {
  const noted = new Map<string, number>();
  const writer = createBatchWriter<Use>({
    write,
    onFailure: (error) => log.warn({ error }, `writing the last use of ${what} failed, retrying`),
    onRefused: (_, error) => log.warn({ error }, `the last use of ${what} was refused by the database`),
    limits,
  });
  return {
    /** Never waits and never throws. */
    note(id: string, at: Date, use: Use): void {
      const before = noted.get(id);
      if ((before !== undefined && at.getTime() - before < everyMs) || !writer.hasRoom) return;
      if (noted.size >= maxNoted) noted.clear();
      noted.set(id, at.getTime());
      writer.add(use);
    },
    /** Writes what waits. Never rejects. */
    close: async (): Promise<void> => void (await writer.close()),
  };
}

export type KeyUses = ReturnType<typeof createKeyUses>;

export function createKeyUses({ database, log }: { readonly database: Database; readonly log: Log }) {
  const keys = createUses<KeyUse>({ log, what: 'keys', write: (uses) => database.run(writeUses, uses) });
  const secrets = createUses<SecretRead>({ log, what: 'secrets', write: (reads) => database.run(writeReads, reads) });
  return {
    /** Never waits and never throws. */
    note: (id: string, usedAt: Date): void => keys.note(id, usedAt, { id, usedAt }),
    /** A read of a secret in the environment that was asked. Never waits and never throws. */
    noteRead(secretId: string, environmentId: string, readAt: Date): void {
      secrets.note(`${secretId} ${environmentId}`, readAt, { id: newId(), secretId, environmentId, readAt });
    },
    /** Writes what waits. Never rejects. */
    close: async (): Promise<void> => void (await Promise.all([keys.close(), secrets.close()])),
  };
}
