// Splits a stream into lines, in the memory of one line.

const lineFeed = 10;
const carriageReturn = 13;

/** Each line without its end, LF or CRLF; undefined for one above `maxBytes`, which is not kept. */
export async function* linesOf(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    if (length <= maxBytes + 1) parts.push(part);
    else parts = [];
  }
  function take(): Buffer | undefined {
    const line = Buffer.concat(parts);
    const text = line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
    const isWhole = line.length === length && text.length <= maxBytes;
    [parts, length] = [[], 0];
    return isWhole ? text : undefined;
  }

  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    keep(chunk.subarray(start));
  }
  if (length > 0) yield take();
}
