import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** `npm test -- <fixture>` as a process of its own. */
async function testRun(fixture: string, ci: string): Promise<{ code: number | null; lines: string[] }> {
  const args = [join(import.meta.dirname, 'run.ts'), join(import.meta.dirname, 'fixtures', fixture)];
  const run = spawn(process.execPath, args, { env: { ...process.env, CI: ci }, stdio: ['ignore', 'pipe', 'ignore'] });
  const [output] = await Promise.all([text(run.stdout), once(run, 'exit')]);
  return { code: run.exitCode, lines: output.trimEnd().split('\n') };
}

describe('npm test', () => {
  it('names the suites that a missing server kept from running, then counts', async () => {
    const { code, lines } = await testRun('missing-server.ts', '');
    expect(lines.slice(-2)).to.deep.equal(['not run: Abacus suites (no abacus on PATH)', '1 passed, 0 failed, 2 skipped']);
    expect(code).to.equal(0);
  });

  it('fails with CI=true where a server is missing', async () => {
    const { code, lines } = await testRun('missing-server.ts', 'true');
    expect(lines.at(-1)).to.equal('1 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('ends with what failed and the count, and not with 0, when a test fails', async () => {
    const { code, lines } = await testRun('failing.ts', '');
    expect(lines.slice(lines.indexOf('Summary')).join('\n')).to.match(/1 failing[^]*a fixture[^]*Error: as it should/);
    expect(lines.at(-1)).to.equal('1 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('counts as failed what could not begin', async () => {
    const { code, lines } = await testRun('unloadable.ts', '');
    expect(lines.at(-1)).to.equal('0 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('fails when something is left open that holds the process', async () => {
    const { code, lines } = await testRun('leaking.ts', '');
    expect(lines.at(-1)).to.equal('1 passed, 1 failed');
    expect(code).to.equal(1);
  });

  it('fails for a file that does not exist', async () => {
    const { code, lines } = await testRun('absent.ts', '');
    expect(lines.at(-1)).to.equal('0 passed, 1 failed');
    expect(code).to.equal(1);
  });
});
