// The traces that reads leave: the last use of keys and secrets, at most once a minute for one and process, and how often each secret was read in an
// environment on a day. Noted in memory, and written in batches off the path of the reads.
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
    close: writer.close,
  };
}

type CountedReads = {
  readonly secretId: string;
  readonly environmentId: string;
  /** A day of UTC: `2026-03-15`. */
  readonly day: string;
  reads: number;
};

const addReads = rowsStatement<unknown, [counts: readonly CountedReads[]]>(
  'secrets.countReads',
  [{ secretId: 'uuid', environmentId: 'uuid', day: 'date', reads: 'int' }],
  // In one order, as above. A batch may hold a place twice, after one that failed; a batch whose outcome was not known is counted twice.
  (counts) => `
  insert into secret_read_days (secret_id, environment_id, day, reads)
  select given.secret_id, given.environment_id, given.day, sum(given.reads)
  from ${counts} as given join secrets s on s.id = given.secret_id join environments e on e.id = given.environment_id
  group by given.secret_id, given.environment_id, given.day order by given.secret_id, given.environment_id, given.day
  on conflict (secret_id, environment_id, day) do update set reads = secret_read_days.reads + excluded.reads`,
);

/** More than an installation reads in two seconds; beyond it reads are not counted. A crash loses the counts of the last two seconds. */
const countLimits = { maxWaiting: 100_000, batchSize: 1000, pauseMs: 2000, closeMs: 2000 };

type ReadCountsParts = {
  readonly log: Log;
  /** Adds the counts to those that are stored. */
  readonly write: (counts: readonly CountedReads[]) => Promise<unknown>;
};

function createReadCounts({ log, write }: ReadCountsParts) {
  const open = new Map<string, CountedReads>();
  const writer = createBatchWriter<CountedReads>({
    write(counts) {
      // Reads that come while these are written are counted anew.
      for (const count of counts) if (open.get(keyOf(count)) === count) open.delete(keyOf(count));
      return write(counts);
    },
    onFailure: (error) => log.warn({ error }, 'writing the counts of reads failed, retrying'),
    onRefused: (_, error) => log.warn({ error }, 'a count of reads was refused by the database'),
    limits: countLimits,
  });
  return {
    /** Never waits and never throws. */
    add(secretId: string, environmentId: string, readAt: Date): void {
      const place = { secretId, environmentId, day: readAt.toISOString().slice(0, 10) };
      const known = open.get(keyOf(place));
      if (known) known.reads += 1;
      if (known || !writer.hasRoom) return;
      const count = { ...place, reads: 1 };
      open.set(keyOf(place), count);
      writer.add(count);
    },
    close: writer.close,
  };
}

const keyOf = ({ secretId, environmentId, day }: Omit<CountedReads, 'reads'>) => `${secretId} ${environmentId} ${day}`;

export type KeyUses = ReturnType<typeof createKeyUses>;

export function createKeyUses({ database, log }: { readonly database: Database; readonly log: Log }) {
  const keys = createUses<KeyUse>({ log, what: 'keys', write: (uses) => database.run(writeUses, uses) });
  const secrets = createUses<SecretRead>({ log, what: 'secrets', write: (reads) => database.run(writeReads, reads) });
  const counts = createReadCounts({ log, write: (counted) => database.run(addReads, counted) });
  return {
    /** Never waits and never throws. */
    note: (id: string, usedAt: Date): void => keys.note(id, usedAt, { id, usedAt }),
    /** A read of a secret in the environment that was asked. Never waits and never throws. */
    noteRead(secretId: string, environmentId: string, readAt: Date): void {
      secrets.note(`${secretId} ${environmentId}`, readAt, { id: newId(), secretId, environmentId, readAt });
      counts.add(secretId, environmentId, readAt);
    },
    /** Writes what waits. Never rejects. */
    close: async (): Promise<void> => void (await Promise.all([keys.close(), secrets.close(), counts.close()])),
  };
}
