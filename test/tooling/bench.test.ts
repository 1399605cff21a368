import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = join(import.meta.dirname, '../bench');
const benches = readdirSync(folder).filter((name) => name.endsWith('.ts') && name !== 'main.ts');

describe('the benchmarks', () => {
  // They share the ground of tests, and run without mocha.
  for (const name of benches) {
    it(`${name} loads outside of mocha`, () => {
      const program = `const { bench } = await import(${JSON.stringify(join(folder, name))}); console.log(typeof bench.run); process.exit();`;
      expect(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' }).trim()).to.equal('function');
    });
  }
});
