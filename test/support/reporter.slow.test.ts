import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** `npm test -- <fixture>` as a process of its own. */
async function testRun(fixture: string, ci: string, environment: Readonly<Record<string, string>> = {}): Promise<{ code: number | null; lines: string[] }> {
  const args = [join(import.meta.dirname, 'run.ts'), join(import.meta.dirname, 'fixtures', fixture)];
  const run = spawn(process.execPath, args, { env: { ...process.env, CI: ci, ...environment }, stdio: ['ignore', 'pipe', 'ignore'] });
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

  it('runs again alone, with CI=true, what failed beside others, and names it when it then passes', async () => {
    const fails = async (times: number, ci: string) => {
      const folder = await mkdtemp(join(tmpdir(), 'signalbox-flaky-'));
      const run = await testRun('flaky.ts', ci, { FLAKY_FOLDER: folder, FLAKY_TIMES: String(times) });
      await rm(folder, { recursive: true });
      return run;
    };
    const once = await fails(1, 'true');
    expect(once.lines.slice(once.lines.indexOf('Summary')).join('\n')).to.match(/^failed once, ran again: .*flaky\.ts$[^]*Error: time 1$/m);
    expect([once.lines.at(-1), once.code]).to.deep.equal(['1 passed, 0 failed', 0]);
    const twice = await fails(2, 'true');
    expect([twice.lines.at(-1), twice.code]).to.deep.equal(['0 passed, 1 failed', 1]);
    const elsewhere = await fails(1, '');
    expect([elsewhere.lines.at(-1), elsewhere.code]).to.deep.equal(['0 passed, 1 failed', 1]);
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
