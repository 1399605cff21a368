// All SQL of the record of consumed connections: its times are the database's, and processes tell it only how long ago something was.
import { type Database, statement } from '../../platform/postgres/pool.ts';

/** Past these a worker that has said nothing is taken to have ended. */
const heldSeconds = 60;

export type NotedConnection = {
  readonly fingerprint: Buffer;
  readonly name: string;
  readonly sealedUrl: Buffer;
  /** Null while it is configured. */
  readonly removedForMs: number | null;
  readonly unreachableForMs: number;
};

// What it had noted and consumes no longer was left for good, and is forgotten together with the notes that ended workers have of it.
const note = statement<unknown, [string, string, Buffer[], string[], Buffer[], (number | null)[], number[]]>(
  'intake.noteConnections',
  `
  with forgotten as (
    delete from consumed_connections where queue = $1 and worker = $2 and fingerprint <> all ($3::bytea[]) returning fingerprint
  ), noted as (
    insert into consumed_connections (queue, worker, fingerprint, name, sealed_url, removed_at, reachable_at, held_until)
    select $1, $2, fingerprint, name, sealed_url, now() - removed_ms * interval '1 ms', now() - unreachable_ms * interval '1 ms',
           now() + interval '${heldSeconds} s'
    from unnest($3::bytea[], $4::text[], $5::bytea[], $6::float8[], $7::float8[]) as mine(fingerprint, name, sealed_url, removed_ms, unreachable_ms)
    on conflict (queue, fingerprint, worker) do update set name = excluded.name, removed_at = excluded.removed_at,
      reachable_at = excluded.reachable_at, held_until = excluded.held_until
  )
  delete from consumed_connections where (queue, fingerprint, worker) in (
    select queue, fingerprint, worker from consumed_connections
    where queue = $1 and worker <> $2 and held_until <= now()
      and (fingerprint = any ($3::bytea[]) or fingerprint in (select fingerprint from forgotten))
    for update skip locked)`,
);

// Of several notes the latest.
const free = statement<NotedConnection, [queue: string, known: Buffer[]]>(
  'intake.freeConnections',
  `
  select distinct on (fingerprint) fingerprint, name, sealed_url as "sealedUrl",
         (extract(epoch from now() - removed_at) * 1000)::float8 as "removedForMs",
         (extract(epoch from now() - reachable_at) * 1000)::float8 as "unreachableForMs"
  from consumed_connections
  where queue = $1 and held_until <= now() and fingerprint <> all ($2::bytea[])
  order by fingerprint, held_until desc`,
);

const expire = statement<unknown, [queue: string, fingerprints: Buffer[], keptMs: number]>(
  'intake.expireConnections',
  `
  delete from consumed_connections
  where queue = $1 and fingerprint = any ($2::bytea[]) and held_until <= now() - $3::float8 * interval '1 ms'`,
);

const release = statement<unknown, [queue: string, worker: string]>(
  'intake.releaseConnections',
  'update consumed_connections set held_until = now() where queue = $1 and worker = $2',
);

export type ConnectionStore = ReturnType<typeof createConnectionStore>;

/** @param worker a UUID of this process */
export const createConnectionStore = (database: Database, queue: string, worker: string) => ({
  /** These are all that the worker consumes now, and it goes on. */
  async note(connections: readonly NotedConnection[]): Promise<void> {
    const column = <K extends keyof NotedConnection>(key: K) => connections.map((one) => one[key]);
    const columns = [column('fingerprint'), column('name'), column('sealedUrl'), column('removedForMs'), column('unreachableForMs')] as const;
    await database.run(note, queue, worker, ...columns);
  },
  /** Those that no worker consumes any more, but for the known ones. */
  free: (known: readonly Buffer[]) => database.all(free, queue, [...known]),
  /** Forgets notes of workers that ended so long ago. */
  expire: (fingerprints: readonly Buffer[], keptMs: number) => database.run(expire, queue, [...fingerprints], keptMs),
  /** The worker ends: others may take up at once what it has consumed. */
  release: () => database.run(release, queue, worker),
});
