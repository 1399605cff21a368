// Joins the pieces of a body, where postal-mime 4.0.0 asks a Blob to: Node's takes 60 µs, and 18 µs and 2.6 KB for each line that comes alone.

type Part = ArrayBuffer | Uint8Array | '\n';

const lineFeed = Uint8Array.of(0x0a);
const bytesOf = (part: Part): Uint8Array => (part === '\n' ? lineFeed : part instanceof Uint8Array ? part : new Uint8Array(part));

/** In place of a Blob: all that postal-mime asks of one. */
export class JoinedParts {
  readonly #parts: readonly Uint8Array[];

  constructor(parts: readonly Part[]) {
    this.#parts = parts.map(bytesOf);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    const { buffer, byteOffset, length } = Buffer.concat(this.#parts);
    return Promise.resolve(buffer.slice(byteOffset, byteOffset + length));
  }
}
