// Parses the bytes of a mail into the input of the extraction. Pure; the caller bounds its cost.
import PostalMime, { type Address } from 'postal-mime';
import { maxHeadBytes } from '../../platform/mail/limits.ts';
import type { ParsedMail } from '../extraction/extraction.ts';

/** @throws Error for a mail nested deeper, or with longer headers, than any newsletter */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { subject, from, to, html, text, headers } = await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes });
  return {
    subject: subject?.trim() ? subject : null,
    date: readDate(headers.find(({ key }) => key === 'date')?.value),
    from: (from ? addressesOf(from) : [])[0] ?? null,
    to: to?.flatMap(addressesOf)[0] ?? null,
    html: html ?? null,
    text: text ?? null,
    unsubscribe: headers.flatMap(({ key, value }) => (key === 'list-unsubscribe' ? targetsOf(value) : [])),
  };
}

/** The day of a date in the form of RFC 5322 section 3.3. */
const dayOfMonth = /(?:^|[\s,])(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})(?!\d)/i;

/** Null for an impossible date. `Date` itself would read 31 February as a day of March, and 24:00 as the next day. */
function readDate(text = ''): Date | null {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()) || /\s24:/.test(text)) return null;
  const [, day, month, year] = dayOfMonth.exec(text) ?? [];
  return day === undefined || new Date(`${day} ${month} ${year} UTC`).getUTCDate() === Number(day) ? date : null;
}

const addressesOf = ({ address, group = [] }: Address): string[] =>
  [address, ...group.map((mailbox) => mailbox.address)].flatMap((one) => (one === undefined || one === '' ? [] : [one]));

/** `<https://example.org/leave>, <mailto:leave@example.org>` (RFC 2369); folded lines leave white space within. */
const targetsOf = (value: string): string[] =>
  [...value.matchAll(/<([^<>]*)>/g)].map(([, target = '']) => target.replace(/\s+/g, '')).filter((one) => one !== '');
