// Cuts the elements of a JSON array out of a stream without parsing them, in the memory of one element. Elements are not validated.

const [quote, backslash, comma, openBrace, closeBrace, openBracket, closeBracket, lineFeed, carriageReturn, space, tab] = Buffer.from('"\\,{}[]\n\r \t');
const isBlank = (byte: number | undefined) => byte === space || byte === lineFeed || byte === carriageReturn || byte === tab;

/**
 * @returns each element on one line; undefined for one above `maxBytes`, which is not kept
 * @throws Error when the text is no array, or ends within one
 */
export async function* elementsOf(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer | undefined> {
  let depth = 0;
  let isEnded = false;
  let isString = false;
  let isEscaped = false;
  let parts: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    if (length <= maxBytes) parts.push(onOneLine(part));
    else parts = [];
  }
  function take(): Buffer | undefined {
    const element = length <= maxBytes ? Buffer.concat(parts) : undefined;
    [parts, length] = [[], 0];
    return element;
  }
  /** @returns whether an element ends with this byte */
  function read(byte: number | undefined): boolean {
    if (isEscaped) isEscaped = false;
    else if (isString) [isEscaped, isString] = [byte === backslash, byte !== quote];
    else if (byte === quote) isString = true;
    else if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) return --depth === 0;
    else return byte === comma && depth === 1;
    return false;
  }

  for await (const chunk of bytes) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (depth === 0) {
        if (isBlank(chunk[at])) continue;
        if (isEnded || chunk[at] !== openBracket) throw new Error(isEnded ? 'there is something after the array' : 'it is no JSON array');
        start = at + 1;
      }
      if (!read(chunk[at])) continue;
      keep(chunk.subarray(start, at));
      yield take();
      start = at + 1;
      isEnded = depth === 0;
    }
    if (depth > 0) keep(chunk.subarray(start));
  }
  if (!isEnded) throw new Error('it ends within the array');
}

/** Outside of strings JSON allows a space in place of a line end; strings contain no line ends. */
const onOneLine = (part: Buffer): Buffer => Buffer.from(part.map((byte) => (byte === lineFeed || byte === carriageReturn ? 0x20 : byte)));
