// Parses the bytes of a mail into the input of the extraction. Pure; the caller bounds its cost.
import type { Address } from 'postal-mime';
import { attachedMails, readMail, sealOf } from '../../platform/mail/read-mail.ts';
import type { ParsedMail } from '../extraction/extraction.ts';
import { readDate } from './date.ts';

export type ReadMail = ParsedMail & {
  readonly messageId: string | null;
  /** Mails that it forwards as attachments; the text of mails within its text is its own. */
  readonly attached: readonly Uint8Array[];
};

/** @throws Error for a mail nested deeper, or with longer headers, than any newsletter, and for one whose content is sealed */
export async function parseMail(raw: Uint8Array): Promise<ReadMail> {
  const mail = await readMail(raw);
  const { subject, from, to, html, text, headers, messageId, attachments } = mail;
  const seal = sealOf(mail);
  if (seal !== undefined) throw new Error(seal);
  return {
    subject: oneLine(subject),
    messageId: readMessageId(messageId),
    date: readDate(headers.find(({ key }) => key === 'date')?.value),
    sender: oneLine(from?.name),
    from: (from ? addressesOf(from) : [])[0] ?? null,
    to: to?.flatMap(addressesOf)[0] ?? null,
    html: html ?? null,
    text: text ?? null,
    unsubscribe: headers.flatMap(({ key, value }) => (key === 'list-unsubscribe' ? targetsOf(value) : [])),
    attached: attachedMails(attachments),
  };
}

/** Null for a blank one. */
function oneLine(text = ''): string | null {
  const line = text.replace(/\s+/g, ' ').trim();
  return line === '' ? null : line;
}

/** The identifier without its brackets (RFC 5322 section 3.6.4); null where there is none. */
const readMessageId = (written = ''): string | null => (/<([^<>]*)>/.exec(written)?.[1] ?? written).trim() || null;

const addressesOf = ({ address, group = [] }: Address): string[] =>
  [address, ...group.map((mailbox) => mailbox.address)].flatMap((one) => (one === undefined || one === '' ? [] : [one]));

/** `<https://example.org/leave>, <mailto:leave@example.org>` (RFC 2369); folded lines leave white space within. */
const targetsOf = (value: string): string[] =>
  [...value.matchAll(/<([^<>]*)>/g)].map(([, target = '']) => target.replace(/\s+/g, '')).filter((one) => one !== '');
