// The line that tells a person how far an import is.
import { expect } from 'chai';
import { createProgress } from '../../../../services/listings/commands/progress.ts';

/** @returns what was written by its end */
function drawn(size: number | undefined, isTTY: boolean): string {
  let written = '';
  const progress = createProgress({ isTTY, write: (text) => (written += String(text)) !== '' }, size);
  progress.bytes(500);
  progress.items(1234);
  progress.end();
  return written.replaceAll('\r\u001b[K', '<line>');
}

describe('the progress of an import', () => {
  it('is a bar on a terminal, with the part that is done, the listings sent and their pace', () => {
    expect(drawn(1000, true)).to.match(/^<line>\[={15} {15}\] {2}50 % {2}1234 listings, \d+ a second\n$/);
  });

  it('has no bar where the size is not known, and none beyond its end', () => {
    expect(drawn(undefined, true)).to.match(/^<line>1234 listings, \d+ a second\n$/);
    expect(drawn(100, true)).to.include(`[${'='.repeat(30)}] 100 %`);
  });

  it('is silent where there is no terminal', () => {
    expect(drawn(1000, false)).to.equal('');
  });
});
