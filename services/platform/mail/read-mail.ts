// Parses the bytes of a mail, with its texts and its subject in the character sets that their bytes are in. The caller bounds its cost.
import PostalMime, { type Attachment, type Email, type PostalMimeOptions } from 'postal-mime';
import { headLength, maxHeadBytes } from './limits.ts';

export type MailText = Pick<Email, 'subject' | 'html' | 'text'>;

/** @throws Error for a mail nested deeper, or with longer headers, than any that people read */
export async function readMail(raw: Uint8Array, options: Pick<PostalMimeOptions, 'forceRfc822Attachments'> = {}): Promise<Email> {
  const bytes = withoutLead(Buffer.from(raw.buffer, raw.byteOffset, raw.length));
  const parse = (one: Uint8Array) => PostalMime.parse(one, { maxNestingDepth: 50, maxHeadersSize: maxHeadBytes, ...options });
  const mail = await parse(bytes);
  if (!isDoubtful(mail)) return mail;
  const labels = labelsOf(bytes);
  const isAsUtf8 = labels.every((label) => isUtf8(label) || (label === 'us-ascii' && !isMojibake(mail)));
  const asUtf8 = isAsUtf8 ? mail : await parse(withCharset(bytes, 'utf-8'));
  const otherLabel = labels.find((label) => !isUtf8(label) && isKnown(label)) ?? 'windows-1252';
  const asOther = textsOf(mail).some(isMostlyBroken) ? await parse(withCharset(bytes, otherLabel)) : mail;
  const best = (read: (one: MailText) => string | undefined) => chooseText(read(mail), read(asUtf8), read(asOther));
  const [subject, html, text] = [best((one) => one.subject), best((one) => one.html), best((one) => one.text)];
  return { ...mail, ...(subject !== undefined && { subject }), ...(html !== undefined && { html }), ...(text !== undefined && { text }) };
}

/** Without the byte order mark and the empty lines that scripts write before the header. */
export function withoutLead(raw: Buffer): Buffer {
  const [lead = ''] = /^(?:\xef\xbb\xbf)?[\r\n]*(?=[\w.-]+[ \t]*:(?!\/\/))/.exec(raw.toString('latin1', 0, mostLead)) ?? [];
  return raw.subarray(lead.length);
}
const mostLead = 200;

const textsOf = ({ subject = '', html = '', text = '' }: MailText): readonly string[] => [subject, html, text];

/** Whether one of its texts may be in another character set than was declared: it is not ASCII. */
const isDoubtful = (mail: MailText): boolean => textsOf(mail).some(hasOthers);
/** Whether there may be UTF-8 that was declared as ASCII, and is read as windows-1252 then: a character of it becomes such a pair. */
const isMojibake = (mail: MailText): boolean => textsOf(mail).some((one) => pair.test(one));
const pair =
  /[\u00c2-\u00f4][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122]/;
/** Whether it is not ASCII; a regular expression takes four times as long. */
const hasOthers = (text: string): boolean => Buffer.byteLength(text) > text.length;

/** Bytes that are valid UTF-8 are UTF-8; bytes that are not what they say are in the other character set. */
function chooseText(declared: string | undefined, asUtf8: string | undefined, asOther: string | undefined): string | undefined {
  if (declared === undefined) return undefined;
  if (asUtf8 !== undefined && hasOthers(asUtf8) && !/[\ufffd\0]/.test(asUtf8)) return asUtf8;
  return isMostlyBroken(declared) ? (asOther ?? declared) : declared;
}

/** Whether more characters could not be decoded than those that could, ASCII not counted: a single one may be a cut character. */
function isMostlyBroken(text = ''): boolean {
  const broken = text.split('\ufffd').length - 1;
  return broken > 0 && 2 * broken > (text.match(/[^\0-\x7f]/g)?.length ?? 0);
}

const isUtf8 = (label: string): boolean => /^utf-?8$/.test(label);
function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false; // the Encoding Standard has no such label
  }
}

/** The character sets that headers, encoded words and HTML name, in lower case. */
function labelsOf(raw: Buffer): readonly string[] {
  const named = raw.toString('latin1').matchAll(/(?:charset\*?\s*=\s*(?:3D)?["']?|=\?)([\w.:+-]{1,40})/gi);
  return [...new Set([...named].map(([, label = '']) => label.toLowerCase()))];
}

/** A copy whose parts of text and encoded words declare this character set. The first of several parameters counts. */
function withCharset(raw: Buffer, label: string): Buffer {
  const length = headLength(raw);
  const head = isUtf8(label) ? raw.subarray(0, length) : Buffer.from(new TextDecoder(label).decode(raw.subarray(0, length)));
  const relabelled = `${head.toString('latin1')}${raw.toString('latin1', length)}`
    .replace(/^(content-type[ \t]*:\s*text\/(?:plain|html))\b/gim, `$1; charset=${label}`)
    .replace(/=\?[\w.:+-]{1,40}(?=(?:\*[\w-]+)?\?[bq]\?)/gi, `=?${label}`);
  const isTyped = /^content-type[ \t]*:/im.test(head.toString('latin1'));
  return Buffer.from(isTyped ? relabelled : `Content-Type: text/plain; charset=${label}\r\n${relabelled}`, 'latin1');
}

const sealedTypes: readonly (readonly [type: RegExp, reason: string])[] = [
  [/^application\/(?:x-)?pkcs7-mime\b| smime\.p7m$/i, 'its content is signed or encrypted by S/MIME in one part, smime.p7m'],
  [/^application\/pgp-encrypted\b/i, 'its content is encrypted by PGP'],
  [/^application\/(?:vnd\.)?ms-tnef\b| winmail\.dat$/i, "its content is in winmail.dat, Outlook's own format"],
];

/** Why nothing of a mail can be read; undefined for one with a text, or with nothing that could hold one. */
export function sealOf({ html = '', text = '', attachments }: Email): string | undefined {
  if (`${html}${text}`.trim() !== '') return undefined;
  return sealedTypes.find(([type]) => attachments.some(({ mimeType, filename }) => type.test(`${mimeType} ${filename}`)))?.[1];
}

const mostAttached = 10;

/** The bytes of mails that a mail forwards as attachments. */
export const attachedMails = (attachments: readonly Attachment[]): Uint8Array[] =>
  attachments
    .filter(({ mimeType, filename }) => /^message\/(?:rfc822|global)$/.test(mimeType) || filename?.toLowerCase().endsWith('.eml') === true)
    .slice(0, mostAttached)
    .map(({ content }) => (typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content)));
