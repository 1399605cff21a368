// Lines of a stream, whatever pieces it comes in, in the memory of one line.

const lineFeed = 10;

/** Each line without its end; undefined for one above `maxBytes`, which is dropped as it comes. */
export async function* linesOf(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = [];
  let length = 0;

  function keep(part: Buffer): void {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  }
  function take(): Buffer | undefined {
    const line = length <= maxBytes ? Buffer.concat(parts) : undefined;
    [parts, length] = [[], 0];
    return line;
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
