// Lets postal-mime 4.0.0 take a body in one piece: line after line takes half of its time. The decoded bytes stay the same.

/** A body's decoder; they differ by these members. */
type Decoder = {
  /** The decoded bytes. */
  readonly chunks: Uint8Array[];
  update(lines: Uint8Array): void;
  /** In base64 only, whose decoder joins lines itself. */
  readonly remainder?: string;
  /** In quoted-printable only: moves to `chunks` what it has of the lines before. */
  flushBuffer?(): void;
};
/** The parser's own state while it reads the bytes `av`. */
type Parser = {
  readonly av: Uint8Array;
  readPos: number;
  readonly boundaries: readonly { readonly value: Uint8Array }[];
  readonly currentNode: { readonly state: string; readonly contentDecoder: Decoder | null };
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
};

const [lineFeed, carriageReturn, equals] = [0x0a, 0x0d, 0x3d];

/** With each line of a body, this parser takes those behind it up to a boundary. @param prototype of postal-mime's class */
export function takeWholeBodies(prototype: object): void {
  const { processLine } = prototype as Pick<Parser, 'processLine'>;
  async function processBody(this: Parser, line: Uint8Array, isFinal: boolean): Promise<void> {
    await processLine.call(this, line, isFinal);
    const { state, contentDecoder } = this.currentNode;
    if (state !== 'body' || !contentDecoder) return;
    const [begin, end] = [this.readPos, endOfBody(this)];
    if (end <= begin) return;
    this.readPos = end;
    takeLines(contentDecoder, this.av.subarray(begin, end));
  }
  Object.assign(prototype, { processLine: processBody });
}

/** Where a line begins that may be a boundary, else where the last one does: it ends the mail. */
function endOfBody({ av, readPos, boundaries }: Parser): number {
  const bytes = Buffer.from(av.buffer, av.byteOffset, av.length);
  const isBoundary = (at: number) => boundaries.some(({ value }) => value.every((byte, index) => bytes[at + index] === byte));
  let at = bytes.indexOf('\n--', readPos - 1);
  while (at >= 0 && !isBoundary(at + 3)) at = bytes.indexOf('\n--', at + 1);
  return (at < 0 ? bytes.lastIndexOf(lineFeed, -2) : at) + 1;
}

function takeLines(decoder: Decoder, lines: Uint8Array): void {
  if (decoder.remainder === undefined) {
    decoder.flushBuffer?.();
    decoder.chunks.push(decode(lines, decoder.flushBuffer !== undefined));
  } else for (let at = 0; at < lines.length; at += pieceOfBase64) decoder.update(lines.subarray(at, at + pieceOfBase64));
}
/** It makes several strings of what it gets. */
const pieceOfBase64 = 65_536;

/** Lines as postal-mime reads them, without carriage returns at their ends; in quoted-printable a line that ends with `=` goes on in the next. */
function decode(lines: Uint8Array, isQuoted: boolean): Uint8Array {
  const decoded = new Uint8Array(lines.length);
  let length = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const next = lines.indexOf(lineFeed, at);
    let end = next;
    while (end > at && lines[end - 1] === carriageReturn) end -= 1;
    const isSoft = isQuoted && end > at && lines[end - 1] === equals;
    if (isSoft) end -= 1;
    for (; at < end; at += 1) {
      const byte = lines[at] ?? 0;
      const quoted = isQuoted && byte === equals ? byteOf(lines[at + 1], lines[at + 2]) : -1;
      decoded[length++] = quoted < 0 ? byte : quoted;
      if (quoted >= 0) at += 2;
    }
    if (!isSoft) decoded[length++] = lineFeed;
    at = next;
  }
  return decoded.subarray(0, length);
}

/** By the code of a digit; -1 for other characters. */
const hexDigits = Int8Array.from({ length: 256 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()));
/** Negative where one of them is no digit, as the end of a line is none. */
const byteOf = (high = 0, low = 0): number => ((hexDigits[high] ?? -1) << 4) | (hexDigits[low] ?? -1);
