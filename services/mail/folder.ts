// One folder of an IMAP mailbox, on a connection of its own: its mails that were not taken, and what becomes of a mail.
import { ImapFlow, type MailboxObject } from 'imapflow';
import { describeError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { MailConfig } from './config.ts';

type Options = {
  readonly config: Pick<MailConfig, 'mailboxUrl' | 'mailboxPassword' | 'moveTo' | 'maxMailBytes'>;
  readonly log: Log;
};

/** Keywords (RFC 3501 §2.3.2) of mails that were taken, and of those that their service never takes. */
const keyword = '$signalbox';
const refusedKeyword = '$signalbox-refused';

/** IDLE begins anew this often, which finds a dead connection; where the server has no IDLE it is asked this often. */
const idleMs = 60_000;

/** Whether mails can be marked; in other mailboxes they are moved. */
const keepsKeywords = ({ permanentFlags }: MailboxObject) => permanentFlags === undefined || ['\\*', keyword].some((flag) => permanentFlags.has(flag));

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

function connectionOf({ mailboxUrl, mailboxPassword, maxMailBytes }: Options['config']): ImapFlow {
  const url = new URL(mailboxUrl?.reveal() ?? '');
  const isTls = url.protocol === 'imaps:';
  return new ImapFlow({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (isTls ? 993 : 143)),
    secure: isTls,
    // A password never crosses a network in clear text.
    ...(!isTls && { doSTARTTLS: !isLoopback(url.hostname) }),
    auth: { user: decodeURIComponent(url.username), pass: mailboxPassword?.reveal() ?? decodeURIComponent(url.password) },
    clientInfo: { name: 'Signalbox' },
    logger: false,
    disableAutoIdle: true,
    maxIdleTime: idleMs,
    connectionTimeout: 30_000,
    maxLiteralSize: maxMailBytes + 1,
    maxResponseSize: 2 * maxMailBytes + 1_048_576,
  });
}

/** The server's own words about a command or a login, which the message of the error leaves out. */
function explain(host: string, error: unknown): string {
  if (!(error instanceof Error)) return describeError(error);
  const words = 'responseText' in error && typeof error.responseText === 'string' ? error.responseText : undefined;
  if (!('authenticationFailed' in error)) return words ?? describeError(error);
  return `${host} refuses the user or the password${words === undefined ? '' : `: ${words}`}`;
}

async function select(client: ImapFlow, folder: string): Promise<MailboxObject> {
  const known = (await client.list()).map(({ path }) => path);
  if (!known.some((path) => path === folder || (path === 'INBOX' && folder.toUpperCase() === path)))
    throw new Error(`there is no folder '${folder}'; there are: ${known.join(', ')}`);
  return client.mailboxOpen(folder);
}

export type Folder = Awaited<ReturnType<typeof openFolder>>;

/** @throws Error with the server's own words, or when the folder is missing or mails can be neither marked nor moved */
export async function openFolder(name: string, { config, log }: Options) {
  const { moveTo, maxMailBytes } = config;
  const client = connectionOf(config);
  const { host } = client;
  client.on('error', (error) => log.debug({ folder: name, error }, 'connection to the mailbox failed')); // the command under way fails as well
  let isMarking = true;
  try {
    await client.connect();
    isMarking = keepsKeywords(await select(client, name));
    if (!isMarking && moveTo === undefined) throw new Error(`${host} keeps no keywords in ${name}: set Mailbox__MoveTo to a folder for taken mails`);
    if (moveTo !== undefined) await client.mailboxCreate(moveTo);
  } catch (error) {
    client.close();
    const reason = explain(host, error);
    throw error instanceof Error && error.message === reason ? error : new Error(reason, { cause: error });
  }
  return {
    isOpen: () => client.usable,
    /** Calls the listener when a mail may have come, and when the connection has ended. */
    onChange(listener: () => void): void {
      client.on('exists', listener);
      client.on('close', listener);
    },
    /** Lets the server announce mails until the next command, in which a failure shows. */
    listen: () => void client.idle().catch(() => undefined),
    /** @returns the UIDs of mails that were not taken, oldest first */
    async untaken(since: Date): Promise<string[]> {
      const found = await client.search({ since, ...(isMarking && { unKeyword: keyword }) }, { uid: true });
      return Array.isArray(found) ? found.map(String) : [];
    },
    /** @returns the bytes of a mail; none of one above the limit; undefined when it has gone */
    async read(uid: string): Promise<{ readonly bytes: number; readonly raw?: Buffer } | undefined> {
      const facts = await client.fetchOne(uid, { size: true }, { uid: true });
      if (!facts) return undefined;
      const { size: bytes = 0 } = facts;
      if (bytes > maxMailBytes) return { bytes };
      const found = await client.fetchOne(uid, { source: { start: 0, maxLength: maxMailBytes + 1 } }, { uid: true });
      if (!found) return undefined;
      return { bytes, ...(found.source && found.source.length <= maxMailBytes && { raw: found.source }) };
    },
    /** Records what became of a mail, so that it is not handed over again. A refused one stays where people see it. */
    async settle(uid: string, isRefused: boolean): Promise<void> {
      if (isMarking) await client.messageFlagsAdd(uid, isRefused ? [keyword, refusedKeyword] : [keyword], { uid: true });
      if (moveTo !== undefined && !(isMarking && isRefused)) await client.messageMove(uid, moveTo, { uid: true });
    },
    close: () => client.logout().catch(() => undefined),
  };
}
