// docs/operator.md: every reason of a condition is in its table, with what to do.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasons } from '../../services/operator/contract.ts';

describe('docs/operator.md', () => {
  it('has each reason that a condition can have, and no other', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/operator.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+)` \| [^|]+ \| [^|]+\. \| [^|]+\. \|$/gm)].map(([, reason]) => reason);
    expect(rows).to.deep.equal([...reasons]);
  });
});
