// The thread that parses mails, one after the other, and extracts their links: hostile HTML holds up nobody else. It is given their bytes and nothing else.
import { isTextTooLong, textTooLong } from '../../platform/mail/limits.ts';
import { serveParser } from '../../platform/mail/parser-thread.ts';
import { extract } from '../extraction/extraction.ts';
import type { FoundNewsletter } from './newsletters.ts';
import { parseMail } from './parser.ts';

/** More than any roundup has; each is a row, and whoever stores them holds up others. */
const maxLinks = 2000;

async function readNewsletter(raw: Uint8Array): Promise<FoundNewsletter> {
  const mail = await parseMail(raw);
  if (isTextTooLong(mail.html, mail.text)) throw new Error(textTooLong);
  const links = extract(mail);
  if (links.length > maxLinks) throw new Error(`more than ${maxLinks} links`);
  const found = links.map(({ url, foundUrl, title, authors }) => ({ url, foundUrl, title, authors: [...authors] }));
  return { title: mail.subject, receivedDate: mail.date, destinationEmail: mail.to, links: found };
}

serveParser(readNewsletter);
