// Follows folders of a mailbox: hands every mail to the service of its folder, then marks or moves it.
import { describeError } from '../platform/errors.ts';
import type { CheckResult } from '../platform/health.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { backOffMs, createWakeUp, dayMs, sleepUntil } from '../platform/time.ts';
import type { MailConfig, Route } from './config.ts';
import { type Folder, openFolder } from './folder.ts';
import type { Ingest, Outcome } from './ingest.ts';

type MailboxParts = {
  readonly config: Pick<MailConfig, 'mailboxUrl' | 'mailboxPassword' | 'folders' | 'moveTo' | 'sinceDays' | 'maxMailBytes'>;
  readonly ingest: Ingest;
  readonly clock: () => Date;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** Folders are searched this often without any notice of the server. */
const searchMs = 5 * 60_000;
/** After a connection that lasted this long the pauses begin anew; before it each is longer, as a server that refuses each mail would be asked every second. */
const lastingMs = 60_000;
const reconnect = { firstMs: 1000, longestMs: 5 * 60_000 };
const retry = { firstMs: 2000, longestMs: 10 * 60_000 };

export function createMailbox(parts: MailboxParts) {
  const { config, clock, log, metrics } = parts;
  const { folders } = config;
  const { takeAll, followOpen } = createTaking(parts);
  /** Why a folder is not followed at the moment; undefined for one that is. */
  const faults = new Map<string, string | undefined>(folders.map(({ from }) => [from, 'not connected yet']));
  metrics.gauge({
    name: 'signalbox_mailbox_connected',
    help: '1 while a folder of the mailbox is followed.',
    labels: ['folder'],
    collect: (reading) => faults.forEach((fault, folder) => reading.set({ folder }, fault === undefined ? 1 : 0)),
  });

  /** Connects again whenever the connection ends, until the signal. */
  async function follow(route: Route, stopping: AbortSignal): Promise<void> {
    const { from: folder, target } = route;
    let attempt = 0;
    while (!stopping.aborted) {
      const startedAt = clock().getTime();
      try {
        const open = await openFolder(folder, { config, log });
        faults.set(folder, undefined);
        log.info({ folder, target }, 'following the folder');
        await followOpen(open, route, stopping).finally(open.close);
        faults.set(folder, 'the connection was closed');
      } catch (error) {
        const fault = describeError(error);
        if (faults.get(folder) !== fault) log.error({ folder, error }, 'following the folder failed, retrying');
        faults.set(folder, fault);
      }
      attempt = clock().getTime() - startedAt > lastingMs ? 1 : attempt + 1;
      await sleepUntil(stopping, backOffMs(attempt, reconnect));
    }
  }

  return {
    /** Readiness: whether every folder is followed. */
    check(): CheckResult {
      const broken = [...faults].flatMap(([folder, fault]) => (fault === undefined ? [] : [`${folder}: ${fault}`]));
      return broken.length === 0 ? { ok: true } : { ok: false, detail: broken.join(', ') };
    },
    /** Follows every folder, each on a connection of its own. @returns when all have ended, after the signal */
    follow: async (stopping: AbortSignal) => void (await Promise.all(folders.map((route) => follow(route, stopping)))),
    /** Takes every mail that is there now. @throws Error when one could not be handed over */
    async takeOnce(stopping: AbortSignal): Promise<void> {
      for (const route of folders) {
        const open = await openFolder(route.from, { config, log });
        const waiting = await takeAll(open, route, stopping).finally(open.close);
        if (waiting) throw new Error(`${route.from}: mails could not be handed over: ${waiting.reason}`);
      }
    },
  };
}

type Unavailable = Extract<Outcome, { kind: 'unavailable' }>;

/** Takes the mails of an open folder. */
function createTaking({ config: { sinceDays, maxMailBytes }, ingest, clock, log }: MailboxParts) {
  /** @returns why the mail has to wait; undefined when it is settled or gone */
  async function takeMail(folder: Folder, { from, target }: Route, uid: string): Promise<Unavailable | undefined> {
    const mail = await folder.read(uid);
    if (!mail) return undefined;
    if ('fault' in mail) {
      log.warn({ folder: from, uid, reason: mail.fault }, 'reading a mail failed, retrying with the next search');
      return undefined;
    }
    const { raw, bytes } = mail;
    const outcome = raw ? await ingest.deliver(raw, target, 'imap') : ingest.refuse(target, 'imap', `it is larger than ${maxMailBytes} bytes`);
    if (outcome.kind === 'unavailable') return outcome;
    await folder.settle(uid, outcome.kind === 'refused');
    if (outcome.kind === 'refused') log.warn({ folder: from, uid, bytes, reason: outcome.reason }, 'mail refused, left in the mailbox');
    return undefined;
  }

  /** Hands over every mail that was not taken, oldest first. @returns why it ended early */
  async function takeAll(folder: Folder, route: Route, stopping: AbortSignal): Promise<Unavailable | undefined> {
    for (const uid of await folder.untaken(new Date(clock().getTime() - sinceDays * dayMs))) {
      if (stopping.aborted) return undefined;
      const waiting = await takeMail(folder, route, uid);
      if (waiting) return waiting;
    }
    return undefined;
  }

  /** Takes mails as they come, until the connection ends or the process stops. */
  async function followOpen(folder: Folder, route: Route, stopping: AbortSignal): Promise<void> {
    const wakeUp = createWakeUp(stopping);
    folder.onChange(wakeUp.wake);
    let failures = 0;
    while (!stopping.aborted && folder.isOpen()) {
      const waiting = await takeAll(folder, route, stopping);
      failures = waiting ? failures + 1 : 0;
      folder.listen();
      if (waiting) {
        log.warn({ folder: route.from, reason: waiting.reason }, 'mails wait, retrying');
        await sleepUntil(stopping, Math.max(waiting.retryAfterMs ?? 0, backOffMs(failures, retry)));
      } else await wakeUp.pause(searchMs);
    }
  }

  return { takeAll, followOpen };
}
