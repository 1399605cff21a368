// Parses the bytes of a mail into what links are extracted from. Pure; what it costs is bounded by its caller.
import PostalMime, { type Address } from 'postal-mime';
import { maxHeadBytes } from '../../platform/mail/limits.ts';
import type { ParsedMail } from '../contract.ts';

/** @throws Error for what is nested deeper, or has longer headers, than any newsletter */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { subject, date, from, to, html, text, headers } = await PostalMime.parse(raw, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes });
  return {
    subject: subject ?? null,
    date: readDate(date),
    from: (from ? addressesOf(from) : [])[0] ?? null,
    to: to?.flatMap(addressesOf)[0] ?? null,
    html: html ?? null,
    text: text ?? null,
    unsubscribe: headers.flatMap(({ key, value }) => (key === 'list-unsubscribe' ? targetsOf(value) : [])),
  };
}

function readDate(text: string | undefined): Date | null {
  const date = new Date(text ?? NaN);
  return Number.isNaN(date.getTime()) ? null : date;
}

const addressesOf = ({ address, group = [] }: Address): string[] =>
  [address, ...group.map((mailbox) => mailbox.address)].flatMap((one) => (one === undefined || one === '' ? [] : [one]));

/** `<https://example.org/leave>, <mailto:leave@example.org>` (RFC 2369); folded lines leave white space within. */
const targetsOf = (value: string): string[] =>
  [...value.matchAll(/<([^<>]*)>/g)].map(([, target = '']) => target.replace(/\s+/g, '')).filter((one) => one !== '');
