// `signalbox worker mailbox`: takes mails out of a mailbox or from mail servers, and hands them to the digest and to listings.
import type { Runtime, Worker } from '../platform/process/deployable.ts';
import { systemClock } from '../platform/time.ts';
import { type MailConfig, readConfig, settings } from './config.ts';
import { createIngest } from './ingest.ts';
import { createMailbox } from './mailbox.ts';
import { startSmtp } from './smtp.ts';

function open({ log, metrics }: Runtime, config: MailConfig) {
  const ingest = createIngest(config, metrics);
  return { ingest, mailbox: config.mailboxUrl === undefined ? undefined : createMailbox({ config, ingest, clock: systemClock, log, metrics }) };
}

export const worker: Worker<MailConfig> & { readonly settings: typeof settings } = {
  summary: 'Takes newsletters and alert mails out of a mailbox, or receives them by SMTP',
  settings,
  read: readConfig,
  async start(runtime, config) {
    const { log, lifecycle, health } = runtime;
    const { ingest, mailbox } = open(runtime, config);
    if (config.listen !== undefined) {
      const smtp = await startSmtp({ config: { ...config, listen: config.listen }, ingest, log });
      lifecycle.onStop('SMTP port', smtp.close);
    }
    if (mailbox) {
      // A mailbox that is away keeps no mail server from sending.
      if (config.listen === undefined) health.addCheck('mailbox', mailbox.check);
      const following = mailbox.follow(lifecycle.stopping);
      lifecycle.onStop('mailbox', () => following);
    }
  },
  async once(runtime, config) {
    const { mailbox } = open(runtime, config);
    if (!mailbox) throw new Error('without --loop the mails of Mailbox__Url are taken, which is not set; Smtp__Listen needs --loop');
    const taking = mailbox.takeOnce(runtime.lifecycle.stopping);
    runtime.lifecycle.onStop('mails being taken', () => taking.catch(() => undefined));
    await taking;
  },
};
