// Decodes a file or page. Its character set is that of its byte order mark, else the one that the sender declares, else the one of its META element,
// else UTF-8.
import { codeOf } from '../../platform/errors.ts';
import { Common } from '../../platform/problem.ts';

/** The charset parameter of a Content-Type, RFC 9110 section 8.3.2; undefined where there is none. */
export const charsetParameter = (contentType: string): string | undefined => /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType)?.[1];

/** @returns the character set that a Content-Type declares @throws Problem 415 when it is not known */
export function declaredCharset(contentType = ''): string | undefined {
  const charset = charsetParameter(contentType);
  if (charset !== undefined && !isKnownCharset(charset)) throw Common.mediaType({ detail: `The character set ${charset.slice(0, 40)} is not known.` });
  return charset;
}

export const isKnownCharset = (charset: string): boolean => {
  try {
    return new TextDecoder(charset).encoding !== '';
  } catch {
    return false; // the Encoding Standard has no such label
  }
};

/** Browsers look for a META element in this many bytes (HTML, section 13.2.3.2). */
const beginningLength = 1024;

/** @throws Problem 415, where it is strict, for what is not UTF-8 and names no other character set: its letters would be lost */
export async function* textOf(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, declared: string | undefined, { isStrict = false } = {}) {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let beginning = Buffer.alloc(0);
  function createDecoder() {
    const charset = toldCharset(beginning, declared);
    return new TextDecoder(charset, { fatal: isStrict && charset === undefined });
  }
  try {
    for await (const chunk of bytes) {
      if (!decoder) {
        beginning = Buffer.concat([beginning, chunk]);
        if (beginning.length < beginningLength) continue;
        decoder = createDecoder();
        yield decoder.decode(beginning, { stream: true });
      } else yield decoder.decode(chunk, { stream: true });
    }
    if (decoder) yield decoder.decode();
    else yield createDecoder().decode(beginning);
  } catch (error) {
    throw codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? Common.mediaType({ detail: illegible }) : error;
  }
}

const illegible = 'The file is not UTF-8 and names no other character set: say it, as in Content-Type: text/html; charset=windows-1252, or convert the file.';

/** Encoding Standard, section 6: a byte order mark wins over what is declared. Undefined where nothing says it. */
function toldCharset(bytes: Buffer, declared: string | undefined): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (declared !== undefined) return declared;
  // Without a mark: the first character is ASCII, so its other byte is zero in UTF-16.
  if (bytes[0] === 0 && bytes[1] !== 0) return 'utf-16be';
  if (bytes[0] !== 0 && bytes[1] === 0) return 'utf-16le';
  const named = /<meta\b[^>]*\bcharset\s*=\s*["']?([\w-]+)/i.exec(bytes.subarray(0, beginningLength).toString('latin1'))?.[1];
  if (named === undefined) return undefined;
  // A file whose META element can be read as ASCII is not in UTF-16.
  return isKnownCharset(named) && !/^utf-?16/i.test(named) ? named : 'utf-8';
}
