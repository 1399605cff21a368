// One folder of an IMAP mailbox, on a connection of its own: its mails that were not taken, and what becomes of a mail.
import { type FetchMessageObject, type FetchQueryObject, ImapFlow, type MailboxObject } from 'imapflow';
import { codeOf, describeError } from '../platform/errors.ts';
import type { Log } from '../platform/log.ts';
import type { MailConfig } from './config.ts';

type Options = {
  readonly config: Pick<MailConfig, 'mailboxUrl' | 'mailboxPassword' | 'moveTo' | 'maxMailBytes'>;
  readonly log: Log;
  /** IDLE begins anew this often; where the server has no IDLE it is asked this often. A server that is silent for twice as long is gone. */
  readonly idleMs?: number;
};

/** Keywords (RFC 3501 §2.3.2) of mails that were taken, and of those that their service never takes. */
const keyword = '$signalbox';
const refusedKeyword = '$signalbox-refused';

/** Whether mails can be marked; in other mailboxes they are moved. */
const keepsKeywords = ({ permanentFlags }: MailboxObject) => permanentFlags === undefined || ['\\*', keyword].some((flag) => permanentFlags.has(flag));

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

function connectionOf({ mailboxUrl, mailboxPassword, maxMailBytes }: Options['config'], idleMs: number): ImapFlow {
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
    socketTimeout: 2 * idleMs,
    connectionTimeout: 30_000,
    maxLiteralSize: maxMailBytes + 1,
    maxResponseSize: 2 * maxMailBytes + 1_048_576,
  });
}

/** The server's own words about a command, a login or the end of the connection, which the message of the error leaves out. */
function wordsIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const words = 'responseText' in error ? error.responseText : 'reason' in error ? error.reason : undefined;
  return typeof words === 'string' && words !== '' ? words : undefined;
}

function explain(host: string, error: unknown): string {
  const words = wordsIn(error);
  if (!(error instanceof Error && 'authenticationFailed' in error)) return words ?? describeError(error);
  return `${host} refuses the user or the password${words === undefined ? '' : `: ${words.replace(/\.$/, '')}`}`;
}

/** An error whose message is the server's own words. */
function explained(host: string, error: unknown): Error {
  const reason = explain(host, error);
  return error instanceof Error && error.message === reason ? error : new Error(reason, { cause: error });
}

/** Whether the server answered that it does not do this one command (RFC 3501 §7.1): the next one may succeed. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'responseStatus' in error && ['NO', 'BAD'].some((status) => status === error.responseStatus) && codeOf(error) !== 'ETHROTTLE';

/** The client puts the prefix of a person's own folders, such as `INBOX.` (RFC 2342), before each path, and finds no shared folder then. @returns the prefix */
function takePrefix({ namespace }: ImapFlow): string {
  const { prefix = '' } = namespace ?? {};
  if (namespace) namespace.prefix = '';
  return prefix;
}

type Tree = { readonly paths: readonly string[]; readonly prefix: string };

/** The path of a folder, which a setting may write without the prefix. Umlauts are one character or two, as the person or the server writes them. */
const pathIn = ({ paths, prefix }: Tree, folder: string): string | undefined =>
  [folder, `${prefix}${folder}`]
    .map((name) => paths.find((path) => path.normalize() === name.normalize() || (path === 'INBOX' && name.toUpperCase() === path)))
    .find((path) => path !== undefined);

async function select(client: ImapFlow, tree: Tree, folder: string): Promise<MailboxObject> {
  const found = pathIn(tree, folder);
  if (found === undefined) throw new Error(`there is no folder '${folder}'; there are: ${tree.paths.join(', ')}`);
  const opened = await client.mailboxOpen(found);
  if (opened.readOnly) throw new Error(`${folder} is read-only for this user: its mails can be neither marked nor moved`);
  return opened;
}

/** Another folder may have made it meanwhile; servers without RFC 5530 say so in words of their own. @returns its path */
async function create(client: ImapFlow, { prefix }: Tree, folder: string): Promise<string> {
  const path = folder.startsWith(prefix) ? folder : `${prefix}${folder}`;
  try {
    await client.mailboxCreate(path);
  } catch (error) {
    if (!(await client.status(path, { messages: true }).catch(() => false))) throw error;
  }
  return path;
}

/**
 * Without these an EXPUNGE would also delete mails that a person has marked as deleted: the moved one stays then, marked in the same way.
 * IMAP4rev2 has them.
 */
const removesOne = ({ capabilities }: ImapFlow) => ['MOVE', 'UIDPLUS', 'IMAP4rev2'].some((name) => capabilities.has(name));

async function move(client: ImapFlow, uid: string, folder: string): Promise<boolean> {
  const options = { uid: true };
  if (removesOne(client)) return Boolean(await client.messageMove(uid, folder, options));
  return Boolean(await client.messageCopy(uid, folder, options)) && client.messageFlagsAdd(uid, ['\\Deleted'], options);
}

export type Folder = Awaited<ReturnType<typeof openFolder>>;

/** @throws Error with the server's own words, or when the folder is missing or mails can be neither marked nor moved */
export async function openFolder(name: string, { config, log, idleMs = 60_000 }: Options) {
  const { maxMailBytes } = config;
  let { moveTo } = config;
  const client = connectionOf(config, idleMs);
  const { host } = client;
  client.on('error', (error) => log.debug({ folder: name, error }, 'connection to the mailbox failed')); // the command under way fails as well
  let isMarking = true;
  try {
    await client.connect();
    const prefix = takePrefix(client);
    const tree = { prefix, paths: (await client.list()).map(({ path }) => path) };
    isMarking = keepsKeywords(await select(client, tree, name));
    if (!isMarking && moveTo === undefined) throw new Error(`${host} keeps no keywords in ${name}: set Mailbox__MoveTo to a folder for taken mails`);
    if (moveTo !== undefined) moveTo = pathIn(tree, moveTo) ?? (await create(client, tree, moveTo));
  } catch (error) {
    client.close();
    throw explained(host, error);
  }

  /** @returns the first mail of the answer; its words when the server refuses to read this mail */
  async function fetch(uid: string, query: FetchQueryObject): Promise<FetchMessageObject | { readonly fault: string } | undefined> {
    try {
      return (await client.fetchOne(uid, query, { uid: true })) || undefined;
    } catch (error) {
      if (isRefusal(error) && client.usable) return { fault: explain(host, error) };
      throw explained(host, error);
    }
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
    /** @returns the UIDs of mails that were neither taken nor deleted, oldest first */
    async untaken(since: Date): Promise<string[]> {
      const found = await client.search({ since, deleted: false, ...(isMarking && { unKeyword: keyword }) }, { uid: true }).catch((error: unknown) => {
        throw explained(host, error);
      });
      if (!found) throw new Error(`${host} refuses to search ${name}`);
      return found.map(String);
    },
    /** @returns the bytes of a mail; none of one above the limit; why the server does not give it; undefined when it has gone */
    async read(uid: string): Promise<{ readonly bytes: number; readonly raw?: Buffer } | { readonly fault: string } | undefined> {
      const facts = await fetch(uid, { size: true });
      if (!facts || 'fault' in facts) return facts;
      const { size: bytes = 0 } = facts;
      if (bytes > maxMailBytes) return { bytes };
      const found = await fetch(uid, { source: { start: 0, maxLength: maxMailBytes + 1 } });
      if (!found || 'fault' in found) return found;
      if (!found.source) return { fault: `${host} sent no content` };
      return { bytes, ...(found.source.length <= maxMailBytes && { raw: found.source }) };
    },
    /**
     * Records what became of a mail, so that it is not handed over again. A refused one stays where people see it.
     * @throws Error when the server does not record it
     */
    async settle(uid: string, isRefused: boolean): Promise<void> {
      if (isMarking && !(await client.messageFlagsAdd(uid, isRefused ? [keyword, refusedKeyword] : [keyword], { uid: true })))
        throw new Error(`${host} refuses to mark a mail in ${name}`);
      if (moveTo !== undefined && !(isMarking && isRefused) && !(await move(client, uid, moveTo)))
        throw new Error(`${host} refuses to move a mail from ${name} to ${moveTo}`);
    },
    close: async () => void (client.usable ? await client.logout().catch(() => undefined) : client.close()),
  };
}
