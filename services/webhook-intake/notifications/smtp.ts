// Mails by SMTP: a connection for each message, so that one which hangs holds up no other.
import { codeOf, describeError } from '../../platform/errors.ts';
import type { Secret } from '../../platform/config/secret.ts';
import { memberAt } from '../../platform/json.ts';
import type { ChannelSender, OutgoingMessage, SendOutcome } from './channel.ts';

type SmtpParts = {
  /** smtp: with STARTTLS where the server has it; smtps: TLS from the start. */
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
    async send({ id, recipient, subject, text, html }: OutgoingMessage) {
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
          text,
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
  // Only where mails are sent: to load it takes a tenth of what a process of the intake needs to start.
  const { createTransport } = await import('nodemailer');
  return createTransport({
    url: url.reveal(),
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
