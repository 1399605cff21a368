// How Postgres is run when root starts it: it refuses to be root, so it is `nobody`, whom every system has.
import { execFile, spawn } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export type Unprivileged = {
  /** Rejects with what the program printed, when it fails. */
  run(program: string, args: readonly string[]): Promise<void>;
  /** Hands a file or folder to the user that runs the programs. */
  own(path: string): Promise<void>;
};

/** @param paths what the programs must reach; they are let through folders that only root may enter, such as /root */
export async function unprivileged(paths: readonly string[]): Promise<Unprivileged> {
  if (userInfo().uid !== 0) return { run: (program, args) => succeed(program, args), own: () => Promise.resolve() };
  const [uid = 0, gid = 0] = await Promise.all(['-u', '-g'].map(async (flag) => Number((await execute('id', [flag, 'nobody'])).stdout)));
  const asNobody = (program: string, args: readonly string[]) => succeed(program, args, { uid, gid, cwd: '/' });
  // It may pass and read, but not write, everywhere; without the last flag access(2) would forget that.
  const reading = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search', '--securebits=+no_setuid_fixup'];
  const asReadingNobody = (program: string, args: readonly string[]) =>
    succeed('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...reading, program, ...args], { cwd: '/' });

  for (const run of [asNobody, asReadingNobody]) {
    const reached = Promise.all(paths.map((path) => run('test', ['-x', path])));
    if (
      await reached.then(
        () => true,
        () => false,
      )
    )
      return { run, own: (path) => chown(path, uid, gid) };
  }
  throw new Error(
    `Postgres does not run as root, and the user nobody cannot reach ${paths.join(' or ')}: start as an ordinary user, or from a folder that everyone may enter`,
  );
}

/** In a process group of its own: Ctrl-C is for the services, and must not end what starts or stops Postgres for them. */
async function succeed(program: string, args: readonly string[], as: { uid?: number; gid?: number; cwd?: string } = {}): Promise<void> {
  const child = spawn(program, args, { ...as, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [code, ...said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`Command failed: ${[program, ...args].join(' ')}\n${said.join('')}`);
}
