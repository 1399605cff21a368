// A bounded run of the fuzzer, the same each time; `npm run fuzz` goes further.
import { expect } from 'chai';
import { fuzz } from './fuzz/fuzz.ts';

describe('3000 requests of every kind to every operation', function () {
  this.timeout(240_000);

  it('meet no failure, no hang, no line that is an error, and no dead letter without a reason', async () => {
    const { findings } = await fuzz({ requests: 3000, seed: 20_260_101, say: () => undefined });
    expect(findings.map(({ what, count, example }) => `${count} times ${what}\n${example}`)).to.deep.equal([]);
  });
});
