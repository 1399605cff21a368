import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';

const log = join(import.meta.dirname, '../../services/platform/log.ts');
// In single quotes of the shell, so it has none itself.
const program = (lines: number) => `
  const { createLog } = await import(${JSON.stringify(log)});
  const log = createLog({ level: "info" });
  for (let n = 0; n < ${lines}; n++) log.info({ n }, "line");
`;
const shell = (script: string) => spawnSync('sh', ['-c', script], { encoding: 'utf8', timeout: 100_000, maxBuffer: 64 * 1024 * 1024 });
const run = (lines: number) => `'${process.execPath}' --input-type=module -e '${program(lines)}'`;

describe('log lines on standard output', () => {
  it('are all written before the process ends, each whole and in order', () => {
    const { stdout } = shell(run(5000));
    const numbers = stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line).n);
    expect(numbers).to.deep.equal(Array.from({ length: 5000 }, (_, n) => n));
  });

  it('do not keep a process whose reader has gone', () => {
    const { signal, stdout } = shell(`exec 3>&1; { ${run(5000)}; echo "ended with $?" >&3; } | true`);
    expect(signal).to.equal(null);
    expect(stdout).to.contain('ended with 0');
  });
});
