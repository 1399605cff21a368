// Where the bytes of a body go as they come.
export type Sink = { add(chunk: Buffer): void; whole(): Buffer };

const largeBytes = 1_048_576;

/** A large body whose length is known goes into its place at once: joined at the end, it would be in memory twice.
 *  @param isCovered whether there is room for all of it: what is only announced takes none */
export function createSink(declared: number | undefined, isCovered: (length: number) => boolean): Sink {
  let chunks: Buffer[] = [];
  let target: Buffer | undefined;
  let length = 0;
  const place = (chunk: Buffer) => target && (length += chunk.copy(target, length));
  return {
    add(chunk) {
      if (!target && declared !== undefined && declared > largeBytes && isCovered(declared)) {
        target = Buffer.allocUnsafeSlow(declared);
        chunks.forEach(place);
        chunks = [];
      }
      if (target) place(chunk);
      else chunks.push(chunk);
    },
    whole: () => target?.subarray(0, length) ?? (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
  };
}
