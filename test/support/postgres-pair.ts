// Two Postgres servers, one the synchronous standby of the other, behind an address that leads to the primary: what CloudNativePG gives.
import { existsSync, globSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { ownDatabaseUrl, startPostgresServer, unprivileged } from '../../services/laptop/postgres-server.ts';
import { guardProcess, isAlive, signalGroup, temporaryDirectory } from './guard.ts';
import type { Need } from './need.ts';
import { startSwitch } from './switch.ts';
import { eventually, freePort } from './wait.ts';

/** Debian's: npm's Postgres has no `pg_basebackup`. */
const programs = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').sort().map(dirname).at(-1);

/** For `describeWith`. */
export const replicatedPostgres: Need = {
  name: 'Postgres replication',
  missing: programs !== undefined && existsSync(join(programs, 'initdb')) ? undefined : 'no /usr/lib/postgresql/*/bin/pg_basebackup',
};

/** `killed`: the process ends, and the kernel resets its connections. `silent`: the machine is gone, and its connections hang for good. */
export type PrimaryLoss = 'killed' | 'silent';

export type PostgresPair = {
  /** The database `postgres` as superuser, on the primary. */
  readonly url: string;
  /**
   * The primary dies, nothing answers for `outageMs`, then its standby is promoted and the address leads there.
   * @returns when the new primary took connections, by `performance.now()`
   */
  failOver(loss: PrimaryLoss, outageMs: number): Promise<number>;
  /** A new synchronous standby is built from the primary, in place of the lost server. */
  replaceStandby(): Promise<void>;
  close(): Promise<void>;
};

const password = 'test';
// The servers die and never the machine, so nothing depends on `fsync`.
const settings = { max_connections: '200', fsync: 'off', wal_receiver_status_interval: '1' };

type Server = { readonly directory: string; readonly port: number; readonly url: string; kill(): Promise<void> };

async function startServer(directory: string): Promise<Server> {
  const port = await freePort();
  const folder = programs ?? '';
  await startPostgresServer({
    directory,
    password,
    programs: { initdb: join(folder, 'initdb'), pg_ctl: join(folder, 'pg_ctl') },
    settings: { ...settings, port: String(port) },
  });
  const pid = Number((await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
  const guarded = guardProcess(pid);
  return {
    directory,
    port,
    url: ownDatabaseUrl(port, password),
    async kill() {
      // Each leads a process group. Its children would go on until they notice its end; with a machine they are gone at once.
      const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
      for (const one of [pid, ...children]) signalGroup(one, 'SIGKILL');
      await eventually(() => !isAlive(pid));
      guarded.ended();
    },
  };
}

async function startStandbyOf(primary: Server): Promise<Server> {
  const directory = temporaryDirectory('standby');
  const program = join(programs ?? '', 'pg_basebackup');
  const { run, own } = await unprivileged([program, directory]);
  await own(directory);
  const options = ['--pgdata', join(directory, 'data'), '--dbname', primary.url, '--write-recovery-conf', '--checkpoint', 'fast', '--no-sync'];
  await run(program, options);
  const standby = await startServer(directory);
  await ask(primary, `alter system set synchronous_standby_names = 'any 1 (*)'`);
  await ask(primary, 'select pg_reload_conf()');
  await eventually(async () => (await ask(primary, `select from pg_stat_replication where state = 'streaming' and sync_state = 'quorum'`)).length === 1);
  return standby;
}

async function ask({ url }: Server, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

export async function startPostgresPair(): Promise<PostgresPair> {
  let primary = await startServer(temporaryDirectory('primary'));
  let standby: Server | undefined = await startStandbyOf(primary);
  const address = await startSwitch(primary.port);
  const remove = ({ directory }: Server) => rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

  return {
    url: ownDatabaseUrl(address.port, password),
    async failOver(loss, outageMs) {
      const promoted = standby;
      if (!promoted) throw new Error('there is no standby to promote');
      standby = undefined;
      const lost = primary;
      if (loss === 'silent') address.silence();
      else address.leadTo();
      await lost.kill();
      await pause(outageMs);
      // As CloudNativePG with `dataDurability: preferred`: until there is a standby again, commits wait for none.
      await ask(promoted, `alter system set synchronous_standby_names = ''`);
      await ask(promoted, 'select pg_reload_conf()');
      await ask(promoted, 'select pg_promote(true, 60)');
      primary = promoted;
      address.leadTo(primary.port);
      const backAt = performance.now();
      await remove(lost);
      return backAt;
    },
    async replaceStandby() {
      standby ??= await startStandbyOf(primary);
    },
    async close() {
      address.close();
      const servers = [primary, ...(standby ? [standby] : [])];
      await Promise.all(servers.map((server) => server.kill()));
      await Promise.all(servers.map(remove));
    },
  };
}
