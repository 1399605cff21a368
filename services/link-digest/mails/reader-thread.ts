// The thread that parses mails one after the other and extracts their links, so that hostile HTML does not block the process. It gets nothing but their bytes.
import { brotliCompressSync, constants } from 'node:zlib';
import { isObject } from '../../platform/json.ts';
import { headLength } from '../../platform/mail/limits.ts';
import { serveParser } from '../../platform/mail/parser-thread.ts';
import { withoutLead } from '../../platform/mail/read-mail.ts';
import { linksOf } from './links.ts';
import { parseMail } from './parser.ts';
import type { FoundNewsletter } from './reader.ts';
import { showMail } from './shown-mail.ts';

/** The lowest quality takes 0.06 ms for a mail of 54 KB and saves four fifths of what Postgres writes, twice. */
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY } };

/** More than any roundup has. Each link is a row, and storing many delays other mails. */
const maxLinks = 2000;

/** A mail begins with a header field, or the line that separates mails of an mbox; a few programs write something else before. */
function isMail(raw: Uint8Array): boolean {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length);
  const head = withoutLead(bytes);
  const fields = head.toString('latin1', 0, headLength(head));
  return /^(?:>?From |[\w.-]+[ \t]*:(?!\/\/))/i.test(fields) || /^(?:from|subject|date|received|message-id|mime-version|content-type)[ \t]*:/im.test(fields);
}

async function readNewsletter(raw: Uint8Array): Promise<FoundNewsletter> {
  if (!isMail(raw)) throw new Error('it has no header, so it is no mail');
  const mail = await parseMail(raw);
  const links = await linksOf(mail);
  if (links.length > maxLinks) throw new Error(`more than ${maxLinks} links`);
  const found = links.map(({ url, foundUrl, title, authors }) => ({ url, foundUrl, title, authors: [...authors] }));
  // A copy, since zlib's buffer is larger.
  const compressed = new Uint8Array(brotliCompressSync(raw, compression));
  return { kind: 'newsletter', title: mail.subject, receivedDate: mail.date, destinationEmail: mail.to, messageId: mail.messageId, links: found, compressed };
}

serveParser((raw, options) => (isObject(options) ? showMail(raw, { hasRemoteImages: options['hasRemoteImages'] === true }) : readNewsletter(raw)));
