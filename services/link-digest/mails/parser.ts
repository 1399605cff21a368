// Parses the bytes of a mail into the input of the extraction. Pure; the caller bounds its cost.
import PostalMime, { type Address } from 'postal-mime';
import { correctionFor } from '../../platform/mail/charset.ts';
import { maxHeadBytes } from '../../platform/mail/limits.ts';
import type { ParsedMail } from '../extraction/extraction.ts';

export type ReadMail = ParsedMail & { readonly messageId: string | null };

/** @throws Error for a mail nested deeper, or with longer headers, than any newsletter */
export async function parseMail(raw: Uint8Array): Promise<ReadMail> {
  const { subject, from, to, html, text, headers, messageId } = await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes });
  const correct = correctionFor(raw);
  return {
    subject: subject?.trim() ? subject : null,
    messageId: readMessageId(messageId),
    date: readDate(headers.find(({ key }) => key === 'date')?.value),
    from: (from ? addressesOf(from) : [])[0] ?? null,
    to: to?.flatMap(addressesOf)[0] ?? null,
    html: html === undefined ? null : correct(html),
    text: text === undefined ? null : correct(text),
    unsubscribe: headers.flatMap(({ key, value }) => (key === 'list-unsubscribe' ? targetsOf(value) : [])),
  };
}

/** The day of a date in the form of RFC 5322 section 3.3. */
const dayOfMonth = /(?:^|[\s,])(\d{1,2})[\s-]+([a-z]{3})[a-z]*[\s-]+(\d{2,4})(?!\d)/i;

/** Names of zones that `Date` does not know, by what they mean where mail comes from. */
const zones: Readonly<Record<string, string>> = {
  WET: '+0000',
  WEST: '+0100',
  BST: '+0100',
  CET: '+0100',
  MEZ: '+0100',
  CEST: '+0200',
  MESZ: '+0200',
  EET: '+0200',
  EEST: '+0300',
  MSK: '+0300',
  SAST: '+0200',
  JST: '+0900',
  KST: '+0900',
  SGT: '+0800',
  HKT: '+0800',
  AEST: '+1000',
  AEDT: '+1100',
  NZST: '+1200',
  NZDT: '+1300',
  AKST: '-0900',
  AKDT: '-0800',
  HST: '-1000',
};
const isUnknownZone = /^(.*\d{1,2}:\d{2}(?::\d{2})?)\s+(?!(?:UT|UTC|GMT|Z|[ECMP][SD]T)\s*$)[A-Za-z]{1,5}\s*$/;

/** Null for an impossible date. `Date` itself would read 31 February as a day of March, and 24:00 as the next day. */
function readDate(written = ''): Date | null {
  // A comment is no part of the date (section 3.2.2); a zone that is not known is -0000 (section 4.3), but for those that mail programs still write.
  const text = written.replace(/\([^()]*\)/g, ' ').replace(/\b([A-Z]{3,5})\s*$/, (zone) => zones[zone.trim()] ?? zone);
  const date = new Date(isUnknownZone.test(text) ? text.replace(isUnknownZone, '$1 +0000') : text);
  if (Number.isNaN(date.getTime()) || /\s24:/.test(text)) return null;
  const [, day, month, year] = dayOfMonth.exec(text) ?? [];
  return day === undefined || new Date(`${day} ${month} ${year} UTC`).getUTCDate() === Number(day) ? date : null;
}

/** The identifier without its brackets (RFC 5322 section 3.6.4); null where there is none. */
const readMessageId = (written = ''): string | null => (/<([^<>]*)>/.exec(written)?.[1] ?? written).trim() || null;

const addressesOf = ({ address, group = [] }: Address): string[] =>
  [address, ...group.map((mailbox) => mailbox.address)].flatMap((one) => (one === undefined || one === '' ? [] : [one]));

/** `<https://example.org/leave>, <mailto:leave@example.org>` (RFC 2369); folded lines leave white space within. */
const targetsOf = (value: string): string[] =>
  [...value.matchAll(/<([^<>]*)>/g)].map(([, target = '']) => target.replace(/\s+/g, '')).filter((one) => one !== '');
