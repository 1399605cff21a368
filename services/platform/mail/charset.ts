// The text of a mail by the evidence of its bytes: bytes that are valid UTF-8 are UTF-8, whatever character set the mail declares. Pure.

/** A mail that declares UTF-8 anywhere is taken at its word: its text may show such characters on purpose. */
const declared = /charset\*?\s*=\s*(?:"|')?([\w.:-]+)/gi;

type Encoder = (text: string) => Uint8Array | undefined;

/** Corrects a text that its parser decoded by a character set of one byte though it is UTF-8; any other text stays. */
export type Correction = (text: string) => string;

/** @param raw the mail, whose headers name the character sets that its parser used. It is looked at for the first text that is not ASCII. */
export function correctionFor(raw: Uint8Array): Correction {
  let encoders: readonly Encoder[] | undefined;
  return (text) => {
    if (!/[^\0-\x7f]/.test(text)) return text;
    encoders ??= encodersFor(raw);
    return encoders.map((encode) => asUtf8(encode(text))).find((found) => found !== undefined) ?? text;
  };
}

function encodersFor(raw: Uint8Array): readonly Encoder[] {
  const labels = [...Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1').matchAll(declared)].map(([, label = '']) => label.toLowerCase());
  if (labels.some((label) => /^utf-?8$/.test(label))) return [];
  // Parsers decode what they do not know, and ASCII, as windows-1252.
  return [...new Set(['windows-1252', ...labels])].flatMap((label) => encoderOf(label) ?? []);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined where the bytes are not UTF-8, or no more than ASCII. */
function asUtf8(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined; // it is in the character set that was declared
  }
}

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

/** The way back from text to the bytes of a character set of one byte; undefined for any other character set. */
function encoderOf(label: string): Encoder | undefined {
  let characters: string;
  try {
    characters = new TextDecoder(label).decode(allBytes);
  } catch {
    return undefined; // the Encoding Standard has no such label
  }
  const bytes = new Map([...characters].map((character, byte) => [character, byte]));
  if (characters.length !== 256 || bytes.size !== 256) return undefined;
  return (text) => {
    const encoded = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at += 1) {
      const byte = bytes.get(text[at] ?? '');
      if (byte === undefined) return undefined;
      encoded[at] = byte;
    }
    return encoded;
  };
}
