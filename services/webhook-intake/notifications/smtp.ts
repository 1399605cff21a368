// Mails by SMTP: a connection for each message, so that one which hangs holds up no other.
import { z } from 'zod';
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { memberAt } from '../../platform/json.ts';
import { optional, secretUrl, text } from '../../platform/config/settings.ts';
import { type ChannelSender, createChannel, type OutgoingMessage, type SendOutcome } from './channel.ts';

type SmtpParts = {
  /** smtp: with STARTTLS where the server has it, and always with a password; smtps: TLS from the start. */
  readonly url: Secret;
  readonly from: string;
  /** For an answer of the server. */
  readonly timeoutMs?: number;
};

const usualTimeoutMs = 15_000;

export function createSmtp(parts: SmtpParts): ChannelSender {
  const opening = openTransport(parts);
  const { from } = parts;
  return {
    channel: 'smtp',
    async send({ id, recipient, subject, text: plain, html }: OutgoingMessage) {
      try {
        const transport = await opening;
        await transport.sendMail({
          from,
          to: { name: '', address: recipient },
          envelope: { from, to: [recipient] },
          // The same at every attempt: a server that got it already can tell, and so can the reader's program.
          messageId: `<${id}@signalbox>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
          subject,
          text: plain,
          html,
        });
        return 'sent';
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function openTransport({ url, timeoutMs = usualTimeoutMs }: SmtpParts) {
  // Loaded only where mails are sent: it takes a tenth of the start of a process of the intake.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: url.reveal(),
    // A password does not travel in clear text, also where STARTTLS is stripped on the way.
    requireTLS: (URL.parse(url.reveal())?.password ?? '') !== '',
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** A refused sender or login is a fault of the settings, not of the message: only what is said of recipient and content counts against it. */
function outcomeOf(error: unknown): Exclude<SendOutcome, 'sent'> {
  const [command, status] = [memberAt(error, 'command'), memberAt(error, 'responseCode')];
  const isOfMessage = codeOf(error) === 'EMESSAGE' || (codeOf(error) === 'EENVELOPE' && (command === 'RCPT TO' || command === 'DATA'));
  if (!isOfMessage) return { kind: 'unavailable', reason: describeError(error) };
  const isTemporary = typeof status === 'number' && status < 500;
  return { kind: isTemporary ? 'retry' : 'refused', reason: describeError(error) };
}

const Address = z.string({ error: 'must be a mail address' }).max(254, 'must be a mail address').pipe(z.email('must be a mail address'));
const isEmail = (address: string | undefined): address is string => Address.safeParse(address).success;

export const smtp = createChannel({
  name: 'smtp',
  settings: {
    url: optional(secretUrl('Notifications__SmtpUrl', ['smtp', 'smtps'], { summary: 'The mail server of notifications, with user and password' })),
    from: optional(text('Notifications__MailFrom', { summary: 'The address that notifications come from; required with Notifications__SmtpUrl' })),
  },
  // Mail servers take addresses in any letter case.
  recipient: Address.transform((address) => address.toLowerCase()),
  plural: 'addresses',
  faults: ({ url, from }, isNamed) => [
    ...(isNamed && !url ? ['Notifications__SmtpUrl is required: the notification rules name mail addresses'] : []),
    ...(url && !isEmail(from) ? ['Notifications__MailFrom must be a mail address where Notifications__SmtpUrl is set'] : []),
  ],
  open: ({ url, from }) => (url && from !== undefined ? createSmtp({ url, from }) : undefined),
});
