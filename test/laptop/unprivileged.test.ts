// The programs that start and stop the laptop's Postgres.
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { unprivileged } from '../../services/laptop/postgres-server.ts';

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

describe('unprivileged', () => {
  it('runs programs in a process group of their own, which Ctrl-C on the terminal does not reach', async () => {
    const { run } = await unprivileged(['/bin']);
    // `sh -c` is the leader of its group. /proc/self/stat: pid (name) state parent group; a bare machine has no ps, macOS no /proc.
    const group = existsSync('/proc/self/stat') ? 'cut -d " " -f 5 /proc/$$/stat' : 'ps -o pgid= -p $$ | tr -d " "';
    await run('sh', ['-c', `test "$(${group})" = $$`]);
  });

  it('rejects with what a program printed when it fails, and when there is none', async () => {
    const { run } = await unprivileged(['/bin']);
    const failed = await run('sh', ['-c', 'echo out; echo err >&2; exit 3']).then(() => 'ran', messageOf);
    expect(failed).to.contain('out\n').and.contain('err\n');
    expect(await run('no-such-program', []).then(() => 'ran', messageOf)).to.contain('spawn no-such-program');
  });
});
