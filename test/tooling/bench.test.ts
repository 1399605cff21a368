import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = join(import.meta.dirname, '../bench');
const benches = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'main.ts');

describe('the benchmarks', () => {
  // They share the ground of tests, and run without mocha.
  it('load outside of mocha', () => {
    const paths = benches.map((name) => join(folder, name));
    const program = `for (const path of ${JSON.stringify(paths)}) console.log(typeof (await import(path)).bench.run); process.exit();`;
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    expect(printed.trim().split('\n')).to.deep.equal(benches.map(() => 'function'));
  });

  it('say how wrk is installed where it is missing, before they start anything', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(folder, 'main.ts'), 'relay'], { env: { PATH: '' }, encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stderr).to.contain('apt-get install wrk');
  });
});
