// Follows folders of an IMAP mailbox: hands every mail to the service of its folder, then marks or moves it.
import { ImapFlow, type MailboxObject } from 'imapflow';
import { describeError } from '../platform/errors.ts';
import type { CheckResult } from '../platform/health.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { backOffMs, createWakeUp, sleepUntil } from '../platform/time.ts';
import type { MailConfig, Route } from './config.ts';
import type { Ingest } from './ingest.ts';

type MailboxParts = {
  readonly config: Pick<MailConfig, 'mailboxUrl' | 'mailboxPassword' | 'folders' | 'moveTo' | 'sinceDays' | 'maxMailBytes'>;
  readonly ingest: Ingest;
  readonly clock: () => Date;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** Keywords (RFC 3501 §2.3.2) of mails that were taken, and of those that their service never takes. */
const keyword = '$signalbox';
const refusedKeyword = '$signalbox-refused';

const day = 86_400_000;
/** IDLE begins anew this often, which finds a dead connection; where the server has no IDLE it is asked this often. */
const idleMs = 60_000;
/** Folders are searched this often without any notice of the server. */
const searchMs = 5 * 60_000;
const reconnect = { firstMs: 1000, longestMs: 5 * 60_000 };
const retry = { firstMs: 2000, longestMs: 10 * 60_000 };

/** Whether mails can be marked; in other mailboxes they are moved. */
const keepsKeywords = ({ permanentFlags }: MailboxObject) => permanentFlags === undefined || ['\\*', keyword].some((flag) => permanentFlags.has(flag));

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || host.startsWith('127.');

export type Mailbox = ReturnType<typeof createMailbox>;

export function createMailbox({ config, ingest, clock, log, metrics }: MailboxParts) {
  const { folders, moveTo, sinceDays, maxMailBytes } = config;
  const url = new URL(config.mailboxUrl?.reveal() ?? '');
  /** Why a folder is not followed at the moment; undefined for one that is. */
  const faults = new Map<string, string | undefined>(folders.map(({ from }) => [from, 'not connected yet']));
  metrics.gauge({
    name: 'signalbox_mailbox_connected',
    help: '1 while a folder of the mailbox is followed.',
    labels: ['folder'],
    collect: (reading) => faults.forEach((fault, folder) => reading.set({ folder }, fault === undefined ? 1 : 0)),
  });

  async function open({ from: folder }: Route) {
    const client = new ImapFlow({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || (url.protocol === 'imaps:' ? 993 : 143)),
      secure: url.protocol === 'imaps:',
      // A password never crosses a network in clear text.
      ...(url.protocol === 'imap:' && { doSTARTTLS: !isLoopback(url.hostname) }),
      auth: { user: decodeURIComponent(url.username), pass: config.mailboxPassword?.reveal() ?? decodeURIComponent(url.password) },
      clientInfo: { name: 'Signalbox' },
      logger: false,
      disableAutoIdle: true,
      maxIdleTime: idleMs,
      connectionTimeout: 30_000,
      maxLiteralSize: maxMailBytes + 1,
      maxResponseSize: 2 * maxMailBytes + 1_048_576,
    });
    client.on('error', (error) => log.debug({ folder, error }, 'connection to the mailbox failed')); // the command under way fails as well
    try {
      await client.connect();
      const mailbox = await openFolder(client, folder);
      const marks = keepsKeywords(mailbox);
      if (!marks && moveTo === undefined) throw new Error(`${url.hostname} keeps no keywords in ${folder}: set Mailbox__MoveTo to a folder for taken mails`);
      if (moveTo !== undefined) await client.mailboxCreate(moveTo);
      return { client, marks };
    } catch (error) {
      client.close();
      throw new Error(explain(error), { cause: error });
    }
  }

  /** What the server says about a command or a login, which the message of the error leaves out. */
  function explain(error: unknown): string {
    const { responseText, authenticationFailed } = error as { responseText?: string; authenticationFailed?: boolean }; // see ImapFlowError
    if (authenticationFailed === true) return `${url.hostname} refuses the user or the password${responseText === undefined ? '' : `: ${responseText}`}`;
    return responseText ?? describeError(error);
  }

  async function openFolder(client: ImapFlow, folder: string): Promise<MailboxObject> {
    const known = (await client.list()).map(({ path }) => path);
    if (!known.some((path) => path === folder || path.toUpperCase() === folder.toUpperCase()))
      throw new Error(`there is no folder '${folder}'; there are: ${known.join(', ')}`);
    return client.mailboxOpen(folder);
  }

  /** Records what became of a mail, so that it is not handed over again. */
  async function settle({ client, marks }: Opened, uid: string, isRefused: boolean): Promise<void> {
    if (marks) await client.messageFlagsAdd(uid, isRefused ? [keyword, refusedKeyword] : [keyword], { uid: true });
    // What was refused stays where a person sees it.
    if (moveTo !== undefined && !(marks && isRefused)) await client.messageMove(uid, moveTo, { uid: true });
  }

  /** @returns why it has to wait; undefined when the mail is settled or gone */
  async function takeMail(opened: Opened, { from: folder, target }: Route, uid: string) {
    const facts = await opened.client.fetchOne(uid, { size: true }, { uid: true });
    if (!facts) return undefined;
    const { size = 0 } = facts;
    const source = size > maxMailBytes ? undefined : await opened.client.fetchOne(uid, { source: { start: 0, maxLength: maxMailBytes + 1 } }, { uid: true });
    if (source === false) return undefined;
    const raw = source?.source;
    const isTooLarge = raw === undefined || raw.length > maxMailBytes;
    if (isTooLarge) ingest.countRefused(target, 'imap');
    const outcome = isTooLarge ? ({ kind: 'refused', reason: `larger than ${maxMailBytes} bytes` } as const) : await ingest.deliver(raw, target, 'imap');
    if (outcome.kind === 'unavailable') return outcome;
    await settle(opened, uid, outcome.kind === 'refused');
    if (outcome.kind === 'refused') log.warn({ folder, uid, bytes: size, reason: outcome.reason }, 'mail refused, left in the mailbox');
    return undefined;
  }

  /** Hands over every mail of the open folder that has not been taken, oldest first. @returns why it ended early */
  async function takeAll(opened: Opened, route: Route, stopping: AbortSignal) {
    const since = new Date(clock().getTime() - sinceDays * day);
    const found = await opened.client.search({ since, ...(opened.marks && { unKeyword: keyword }) }, { uid: true });
    for (const uid of found === false || found === undefined ? [] : found) {
      if (stopping.aborted) return undefined;
      const waiting = await takeMail(opened, route, String(uid));
      if (waiting) return waiting;
    }
    return undefined;
  }

  /** Works on one connection until it ends or the process stops. */
  async function followOn(opened: Opened, route: Route, stopping: AbortSignal): Promise<void> {
    const { client } = opened;
    const wakeUp = createWakeUp(stopping);
    client.on('exists', wakeUp.wake);
    client.on('close', wakeUp.wake);
    let failures = 0;
    while (!stopping.aborted && client.usable) {
      const waiting = await takeAll(opened, route, stopping);
      failures = waiting ? failures + 1 : 0;
      if (waiting) log.warn({ folder: route.from, reason: waiting.reason }, 'mails wait, trying again');
      void client.idle().catch(() => undefined); // the next command ends it; a failure shows in that one
      if (waiting) await sleepUntil(stopping, Math.max(waiting.retryAfterMs ?? 0, backOffMs(failures, retry)));
      else await wakeUp.pause(searchMs);
    }
  }

  async function follow(route: Route, stopping: AbortSignal): Promise<void> {
    const { from: folder } = route;
    for (let attempt = 1; !stopping.aborted; attempt += 1) {
      try {
        const opened = await open(route);
        attempt = 0;
        faults.set(folder, undefined);
        log.info({ folder, target: route.target }, 'following the folder');
        await followOn(opened, route, stopping);
        await opened.client.logout().catch(() => undefined);
        faults.set(folder, 'the connection was closed');
      } catch (error) {
        const fault = explain(error);
        if (faults.get(folder) !== fault) log.error({ folder, error }, 'following the folder failed, retrying');
        faults.set(folder, fault);
      }
      await sleepUntil(stopping, backOffMs(Math.max(attempt, 1), reconnect));
    }
  }

  return {
    /** Readiness: whether every folder is followed. */
    check(): CheckResult {
      const broken = [...faults].filter(([, fault]) => fault !== undefined);
      return broken.length === 0 ? { ok: true } : { ok: false, detail: broken.map(([folder, fault]) => `${folder}: ${fault ?? ''}`).join(', ') };
    },
    /** Follows every folder, each on a connection of its own. @returns when all have ended, after the signal */
    follow: async (stopping: AbortSignal) => void (await Promise.all(folders.map((route) => follow(route, stopping)))),
    /** Takes what is there. @throws Error when a mail could not be handed over */
    async takeOnce(stopping: AbortSignal): Promise<void> {
      for (const route of folders) {
        const opened = await open(route);
        const waiting = await takeAll(opened, route, stopping).finally(() => opened.client.logout().catch(() => undefined));
        if (waiting) throw new Error(`${route.from}: mails could not be handed over: ${waiting.reason}`);
      }
    },
  };
}

type Opened = { readonly client: ImapFlow; readonly marks: boolean };
