// Parts are joined to the bytes that Node's Blob makes of them.
import { expect } from 'chai';
import { JoinedParts } from '../../../services/platform/mail/joined-parts.ts';

const view = new Uint8Array([9, 1, 2, 0xff, 9]).subarray(1, 4);

describe('joined parts', () => {
  for (const [what, parts] of [
    ['nothing', []],
    ['lines', [Buffer.from('über'), '\n', Buffer.from(''), '\n']],
    ['a part of a buffer and a whole one', [view, new Uint8Array([7]).buffer, view]],
  ] as const)
    it(`are the bytes of ${what}`, async () => {
      const joined = await new JoinedParts(parts).arrayBuffer();
      expect(Buffer.from(joined)).to.deep.equal(Buffer.from(await new Blob([...parts]).arrayBuffer()));
    });
});
