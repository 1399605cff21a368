// The links of a mail, and of mails that it forwards as attachments. The caller bounds its cost.
import { isTextTooLong, textTooLong } from '../../platform/mail/limits.ts';
import { extract, type FoundLink } from '../extraction/extraction.ts';
import { parseMail, type ReadMail } from './parser.ts';

/** How deep mails may be attached to one another. */
const deepest = 3;

/** Each link once, in the order of first appearance. @throws Error for a mail with a longer text than any newsletter has */
export async function linksOf(mail: ReadMail, depth = 0): Promise<readonly FoundLink[]> {
  if (isTextTooLong(mail.html, mail.text)) throw new Error(textTooLong);
  const found = new Map(extract(mail).map((link) => [link.url, link]));
  for (const attached of depth < deepest ? mail.attached : [])
    for (const link of await linksOfAttached(attached, depth + 1)) if (!found.has(link.url)) found.set(link.url, link);
  return [...found.values()];
}

/** None where the attached mail cannot be read: it takes nothing from the mail around it. */
async function linksOfAttached(attached: ReadMail['attached'][number], depth: number): Promise<readonly FoundLink[]> {
  try {
    return await linksOf(await parseMail(attached), depth);
  } catch {
    return [];
  }
}
