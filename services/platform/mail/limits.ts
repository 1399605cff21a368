// Refuses mails that would be too costly to parse, by their bytes alone. Pure and linear.

export const maxHeadBytes = 262_144;
const maxBoundaryLines = 2000;
const maxRecipients = 1000;
const maxTextBytes = 2_097_152;
/** postal-mime keeps each line that it does not decode in 0.5 KB, however short it is. */
const maxLines = 90_000;

export const textTooLong = 'a text part is larger than 2 MiB';

/** The bytes before the first empty line; all of them where there is none. */
export function headLength(raw: Buffer): number {
  const end = raw.indexOf('\n\r\n');
  // Not searched beyond `end`: a mail with CRLF lines has no "\n\n" anywhere.
  const earlier = (end < 0 ? raw : raw.subarray(0, end + 1)).indexOf('\n\n');
  return [earlier, end].find((at) => at >= 0) ?? raw.length;
}

/** @returns the reason to refuse the mail unparsed; undefined when it may be parsed */
export function refusalOf(raw: Buffer): string | undefined {
  if (headLength(raw) > maxHeadBytes) return `more than ${maxHeadBytes} bytes of headers`;
  const boundaries = boundaryLines(raw);
  if (boundaries.length > maxBoundaryLines) return `more than ${maxBoundaryLines} lines that begin as a boundary of parts`;
  if (countRecipients(headOf(raw)) > maxRecipients) return `more than ${maxRecipients} recipients`;
  const parts = [0, ...boundaries.map((at) => afterLine(raw, at))].map((start, index) => raw.subarray(start, boundaries[index]));
  if (parts.some((part) => leastTextBytes(part) > maxTextBytes)) return textTooLong;
  return hasTooManyLines(raw, parts) ? `more than ${maxLines} lines that are neither base64 nor quoted-printable` : undefined;
}

/** Checks the joined text parts that a parser returns. */
export const isTextTooLong = (...parts: readonly (string | null | undefined)[]): boolean => parts.some((part) => (part?.length ?? 0) > maxTextBytes);

/** The positions of the lines; at most one more than allowed. */
function boundaryLines(raw: Buffer): number[] {
  const found: number[] = [];
  for (let at = raw.indexOf('\n--'); at >= 0 && found.length <= maxBoundaryLines; at = raw.indexOf('\n--', at + 3)) found.push(at + 1);
  return found;
}

function afterLine(raw: Buffer, at: number): number {
  const end = raw.indexOf('\n', at);
  return end < 0 ? raw.length : end + 1;
}

/** The unfolded header (RFC 5322 section 2.2.3); empty where the part begins with its body. */
const headOf = (part: Buffer) =>
  /^\r?\n/.test(part.toString('latin1', 0, 2)) ? '' : part.toString('latin1', 0, Math.min(headLength(part), maxHeadBytes)).replace(/\r?\n[ \t]+/g, ' ');

/** Counts the commas and semicolons outside of quotes in all headers with recipients, RFC 5322 section 3.4. */
function countRecipients(head: string): number {
  let count = 0;
  for (const [, value = ''] of head.matchAll(/^(?:resent-)?(?:to|cc|bcc)[ \t]*:(.*)$/gim)) {
    let isQuoted = false;
    count += 1;
    for (let at = 0; at < value.length; at += 1) {
      const character = value[at];
      if (character === '\\') at += 1;
      else if (character === '"') isQuoted = !isQuoted;
      else if (!isQuoted && (character === ',' || character === ';')) count += 1;
    }
  }
  return count;
}

function hasTooManyLines(raw: Buffer, parts: readonly Buffer[]): boolean {
  if (raw.length <= maxLines || countLines(raw) <= maxLines) return false;
  let count = 0;
  for (const part of parts) if (!/^(base64|quoted-printable)$/.test(encodingOf(headOf(part)))) count += countLines(part);
  return count > maxLines;
}

const lineFeed = 0x0a;

/** Counts to one more than allowed. */
function countLines(part: Buffer): number {
  let count = 0;
  // Calling indexOf for each line would take ten times as long, on the main thread.
  for (let at = 0; at < part.length && count <= maxLines; at += 1) if (part[at] === lineFeed) count += 1;
  return count;
}

/** The least size of a part's decoded body; 0 where the part is no text to read. */
function leastTextBytes(part: Buffer): number {
  if (part.length <= maxTextBytes) return 0;
  const head = headOf(part);
  if (head === '') return part.length;
  if (/^content-type[ \t]*:[ \t]*(?!text\/)[^\s;]/im.test(head) || /^content-disposition[ \t]*:[ \t]*attachment/im.test(head)) return 0;
  const share = { base64: 0.72, 'quoted-printable': 1 / 3 }[encodingOf(head)] ?? 1;
  return (part.length - headLength(part)) * share;
}

const encodingOf = (head: string) => /^content-transfer-encoding[ \t]*:[ \t]*([\w-]+)/im.exec(head)?.[1]?.toLowerCase() ?? '';
