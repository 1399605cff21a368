import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';

const folder = join(import.meta.dirname, '../../bin');
const bashCompletion = '/usr/share/bash-completion/bash_completion';

describe('bin/signalbox of a checkout', function () {
  this.timeout(30_000);
  const elsewhere = temporaryDirectory('elsewhere');

  it('runs through a link and in any folder, whatever Node is on the path', () => {
    const link = join(elsewhere, 'signalbox');
    symlinkSync(join(folder, 'signalbox'), link);
    const printed = execFileSync(link, ['secrets', 'run', '--help'], { cwd: elsewhere, env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' });
    expect(printed).to.contain('Usage: signalbox secrets run');
  });

  it('tells of a subcommand by the word help, too', () => {
    const printed = execFileSync(join(folder, 'signalbox'), ['help', 'secrets', 'run'], { encoding: 'utf8' });
    expect(printed).to.contain('Usage: signalbox secrets run');
  });

  it('says what is missing where nothing is installed', () => {
    const copy = join(temporaryDirectory('bare'), 'bin');
    execFileSync('cp', ['-r', folder, copy]);
    expect(() => execFileSync(join(copy, 'signalbox'), { encoding: 'utf8', stdio: 'pipe' })).to.throw(`run 'npm ci' in`);
  });
});

const need = { name: 'bash completion', missing: existsSync(bashCompletion) ? undefined : `no ${bashCompletion}` };

describeWith(need, 'completion in bash', function () {
  this.timeout(30_000);

  /** The words that a Tab behind the line offers. */
  const offered = (line: string) => {
    const script = `
      source ${bashCompletion}; eval "$(signalbox completion bash)"
      COMP_LINE=$1 COMP_POINT=\${#1}; read -ra COMP_WORDS <<<"$1"; [[ $1 == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); __signalbox_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const printed = execFileSync('bash', ['-c', script, 'bash', line], {
      env: { PATH: `${folder}:/usr/bin:/bin` },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return printed.trim().split('\n');
  };

  for (const [line, ...words] of [
    ['signalbox se', 'serve', 'secrets'],
    ['signalbox digest ', 'token', 'hash-password', 'evaluate', 'replay', 'dead-letters', 'help'],
    ['signalbox serve link', 'link-digest'],
    ['signalbox worker cl', 'cleanup'],
    ['signalbox secrets run --env', '--environment'],
    ['signalbox secrets import-env --as ', 'configuration', 'secrets'],
    ['signalbox webhook-intake dead-letters s', 'show', 'send-back'],
  ] as const)
    it(`knows what follows “${line}”`, () => {
      expect(offered(line)).to.have.members(words);
    });

  it('may be evaluated twice', () => {
    const script = 'eval "$(signalbox completion bash)"; eval "$(signalbox completion bash)"';
    const { stderr } = spawnSync('bash', ['--norc', '-c', script], { env: { PATH: `${folder}:/usr/bin:/bin` }, encoding: 'utf8' });
    expect(stderr).to.equal('');
  });
});
