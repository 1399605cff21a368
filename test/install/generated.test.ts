import { expect } from 'chai';
import { deployables } from '../../services/deployables.ts';
import { generatedCredentials } from '../../services/install/credentials.ts';

describe('generated credentials', () => {
  it('are of the shape that their settings ask for', async () => {
    const all = await deployables.loadAll();
    const makers = generatedCredentials(all);
    const declared = all.flatMap(({ settings }) => Object.values(settings)).filter(({ generate }) => generate);
    expect(declared).not.to.have.length(0);
    for (const { name, parse } of declared) expect(() => parse(makers.get(name)?.() ?? ''), name).not.to.throw();
  });
});
