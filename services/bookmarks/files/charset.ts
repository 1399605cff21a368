// The text of a bookmark file: in the character set that its sender declares, else in the one that the file names, else in UTF-8.
import { Common } from '../../platform/problem.ts';

/** The charset parameter of a Content-Type, RFC 9110 section 8.3.2. @throws Problem 415 for one that is not known */
export function charsetIn(contentType = ''): string | undefined {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];
  if (charset !== undefined && !isKnown(charset)) throw Common.mediaType({ detail: `The character set ${charset.slice(0, 40)} is not known.` });
  return charset;
}

const isKnown = (charset: string): boolean => {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false; // the Encoding Standard has no such label
  }
};

export async function* textOf(bytes: AsyncIterable<Uint8Array>, declared: string | undefined): AsyncGenerator<string> {
  let decoder = new TextDecoder(declared);
  let isBeginning = true;
  for await (const chunk of bytes) {
    if (isBeginning && declared === undefined) decoder = new TextDecoder(charsetOf(chunk));
    isBeginning = false;
    yield decoder.decode(chunk, { stream: true });
  }
  yield decoder.decode();
}

/** Byte order marks, and the META element of the beginning, as browsers look for it (HTML, section 13.2.3.2). */
function charsetOf(beginning: Uint8Array): string {
  if (beginning[0] === 0xff && beginning[1] === 0xfe) return 'utf-16le';
  if (beginning[0] === 0xfe && beginning[1] === 0xff) return 'utf-16be';
  const named = /<meta\b[^>]*\bcharset\s*=\s*["']?([\w-]+)/i.exec(Buffer.from(beginning.subarray(0, 1024)).toString('latin1'))?.[1] ?? 'utf-8';
  // A file whose META element can be read as ASCII is not in UTF-16.
  return isKnown(named) && !/^utf-?16/i.test(named) ? named : 'utf-8';
}
