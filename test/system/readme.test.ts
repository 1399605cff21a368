import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { signalGroup, spawnGuarded, temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { commandLine } from '../support/programs.ts';
import { eventually } from '../support/wait.ts';

const root = join(import.meta.dirname, '../..');
const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text.trim());

/** A folder that stands for a clean clone: the repository's own files, and no data yet. */
function checkout(): string {
  const folder = temporaryDirectory('readme');
  chmodSync(folder, 0o755);
  for (const name of ['services', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  return folder;
}

describeWith(commandLine('curl', 'openssl'), 'README.md, followed line by line', function () {
  this.timeout(120_000);
  const folder = checkout();
  let output = '';
  let pid = 0;
  let exitCode: number | null | undefined;
  const run = (script: string) => execFileSync('bash', ['-euc', script], { cwd: folder, encoding: 'utf8' });

  before(async () => {
    const child = spawnGuarded('npm', ['start'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    pid = child.pid ?? 0;
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('close', (code) => (exitCode = code));
    await eventually(() => /^ready in [\d.]+ s$/m.test(output) || exitCode !== undefined, { withinMs: 60_000 });
    expect(output).to.match(/^ready in/m);
  });

  it('begins with the commands that this test knows', () => {
    expect(blocks.map((block) => block.split('\n')[0])).to.deep.equal(['npm ci', 'npm run -s signalbox demo', '. .signalbox/credentials.env']);
  });

  it('shows the demo delivery', () => {
    expect(run(blocks[1] ?? '')).to.match(/relay {3}202.*intake {2}200/s);
  });

  it('delivers and reads back by hand', () => {
    const [delivery = '', events = ''] = run(blocks[2] ?? '').split('}{');
    expect(delivery).to.contain('"isSignatureValid":true');
    expect(events).to.contain('"next"');
  });

  it('shows the delivery by hand in the dashboard API', async () => {
    const ask = (blocks[2] ?? '').split('\n').filter((line) => !line.includes('/Forge'));
    await eventually(() => {
      expect(run(ask.join('\n'))).to.contain('"repository":"me/mine"');
    });
  });

  it('tells its options', () => {
    expect(run('npm start -- --help')).to.contain('--port-base');
    expect(run('npm run -s signalbox -- --help')).to.contain('migrate');
  });

  it('stops on Ctrl-C', async () => {
    signalGroup(pid, 'SIGINT');
    await eventually(() => exitCode !== undefined, { withinMs: 30_000 });
    expect(exitCode).to.equal(0);
  });
});
