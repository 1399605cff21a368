import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { deployables } from '../../services/command/deployables.ts';
import { generatedCredentials } from '../../services/install/credentials.ts';
import { startProcess } from '../support/processes.ts';

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

  it('are printed as a Secret of all keys without a cluster, others each time', async () => {
    const printed = async () => {
      const process = startProcess(['credentials', '--secret', 'mine', '--namespace', 'there', '--label', 'a=b', '--output', 'yaml']);
      expect(await process.exited, process.lines.join('\n')).to.deep.equal({ code: 0, signal: null });
      return parse(process.lines.join('\n')) as { metadata: Record<string, unknown>; stringData: Record<string, string> };
    };
    const [first, second] = await Promise.all([printed(), printed()]);
    expect(first).to.deep.include({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' });
    expect(first.metadata)
      .to.deep.include({ name: 'mine', namespace: 'there', labels: { a: 'b' } })
      .and.to.have.property('annotations');
    const makers = generatedCredentials(await deployables.loadAll());
    expect(Object.keys(first.stringData)).to.deep.equal([...makers.keys()]);
    expect(Object.entries(first.stringData).filter(([key, value]) => value === '' || value === second.stringData[key])).to.deep.equal([]);
  });
});
