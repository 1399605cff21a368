// Lines of a stream, however it is cut.
import { expect } from 'chai';
import fc from 'fast-check';
import { linesOf } from '../../../services/listings/lines.ts';

async function* pieces(text: Buffer, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size);
}
async function read(text: string, size: number): Promise<(string | undefined)[]> {
  const lines: (string | undefined)[] = [];
  for await (const line of linesOf(pieces(Buffer.from(text), size), 5)) lines.push(line?.toString());
  return lines;
}

describe('the lines of a stream', () => {
  it('are the same whatever pieces it comes in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 5, unit: fc.constantFrom('a', ' ', '{') })), fc.integer({ min: 1, max: 20 }), async (lines, size) => {
        expect(await read(lines.map((line) => `${line}\n`).join(''), size)).to.deep.equal(lines);
      }),
    );
  });

  it('are read when the last one has no end', async () => {
    expect(await read('ab\ncd', 1)).to.deep.equal(['ab', 'cd']);
    expect(await read('', 1)).to.deep.equal([]);
  });

  it('above the most bytes are undefined, and the lines after them are read', async () => {
    for (const size of [1, 3, 100]) expect(await read('12345\n123456\n12\n1234567', size)).to.deep.equal(['12345', undefined, '12', undefined]);
  });

  it('may end in CRLF, which is no part of them', async () => {
    for (const size of [1, 3, 100]) expect(await read('12345\r\n123456\r\n12\r\n\r', size)).to.deep.equal(['12345', undefined, '12', '']);
  });

  it('that never end are not kept', async () => {
    const endless = async function* () {
      for (let piece = 0; piece < 8000; piece++) yield Buffer.alloc(65_536, 'x');
    };
    // Half a gigabyte.
    const before = process.memoryUsage().arrayBuffers;
    for await (const line of linesOf(endless(), 65_536)) expect(line).to.equal(undefined);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(200_000_000);
  });
});
