// A real IMAP server for tests: Debian's Dovecot on a loopback port, with any user and one password.
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { ImapFlow } from 'imapflow';
import { signalGroup, spawnGuarded, temporaryDirectory } from './guard.ts';
import type { Need } from './need.ts';
import { findProgram } from './programs.ts';
import { eventually, freePort } from './wait.ts';

const program = findProgram('dovecot', ['/usr/sbin']);

/** For `describeWith`. */
export const dovecot: Need = { name: 'IMAP', missing: program === undefined ? 'no dovecot on PATH' : undefined };

export const password = 'correct-horse@9';

type Options = {
  /** Without it the server says that no keyword of a client is kept. */
  readonly keepsKeywords?: boolean;
  readonly hasIdle?: boolean;
  /** Before the paths of a person's own folders, which are separated by dots then, beside shared ones. */
  readonly prefix?: string;
};

const isRoot = process.getuid?.() === 0;

// Dovecot 2.3. Chroots need root.
const configuration = (directory: string, port: number, { keepsKeywords = true, hasIdle = true, prefix }: Options) => `
base_dir = ${directory}/run
state_dir = ${directory}/state
log_path = ${directory}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
${isRoot ? '' : `default_internal_user = ${userInfo().username}\ndefault_login_user = ${userInfo().username}`}
first_valid_uid = 1
mail_location = maildir:${directory}/mail/%u
${keepsKeywords ? '' : `mail_plugins = acl\nplugin {\n  acl = vfile:${directory}/acl\n}`}
${hasIdle ? '' : 'imap_capability = IMAP4rev1 LITERAL+ UIDPLUS MOVE SPECIAL-USE'}
passdb {
  driver = static
  args = password=${password}
}
userdb {
  driver = static
  args = uid=${isRoot ? 'mail' : userInfo().uid} gid=${isRoot ? 'mail' : userInfo().gid} home=${directory}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = ${prefix === undefined ? '/' : `.\n  prefix = ${prefix}`}
}
${prefix === undefined ? '' : `namespace shared {\n  type = public\n  separator = .\n  prefix = Shared.\n  location = maildir:${directory}/mail/shared\n  subscriptions = no\n}`}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
`;

export async function startDovecot(options: Options = {}) {
  if (program === undefined) throw new Error('dovecot is not on PATH');
  const directory = temporaryDirectory('dovecot');
  const port = await freePort();
  await mkdir(join(directory, 'mail'));
  await chmod(join(directory, 'mail'), 0o777);
  const file = join(directory, 'dovecot.conf');
  await writeFile(file, configuration(directory, port, options));
  await writeFile(join(directory, 'acl'), '* owner lrstipekxa\n'); // every right but w, to write keywords
  const connect = async (user: string) => {
    const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, doSTARTTLS: false, auth: { user, pass: password }, logger: false });
    client.on('error', () => undefined); // the command under way rejects
    await client.connect();
    return client;
  };
  const launch = async () => {
    const begin = () => {
      const child = spawnGuarded(program, ['-F', '-c', file], { stdio: 'ignore' });
      return { child, exited: once(child, 'exit') };
    };
    let begun = begin();
    await eventually(async () => {
      // It gives up where processes of a killed one still hold the port.
      if (begun.child.exitCode !== null) begun = begin();
      await (await connect('probe')).logout();
    });
    return begun;
  };
  let running: Awaited<ReturnType<typeof launch>> | undefined = await launch();
  const end = async (signal: NodeJS.Signals) => {
    const ending = running;
    running = undefined;
    if (ending?.child.pid === undefined) return;
    signalGroup(ending.child.pid, signal);
    await ending.exited;
  };
  return {
    url: (user: string) => `imap://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    /** A client of the mailbox, as its person has one. */
    connect,
    kill: () => end('SIGKILL'),
    start: async () => void (running ??= await launch()),
    close: () => end('SIGTERM'),
  };
}
export type Dovecot = Awaited<ReturnType<typeof startDovecot>>;
