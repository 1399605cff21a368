import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

  it('each have a row that says how they are replaced', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/credentials.md'), 'utf8');
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const keys = [...generatedCredentials(await deployables.loadAll()).keys()];
    expect(keys.filter((key) => !rows.some((row) => row.includes(`\`${key}\``)))).to.deep.equal([]);
  });
});
