// The programs that start and stop the laptop's Postgres.
import { expect } from 'chai';
import { unprivileged } from '../../services/laptop/unprivileged.ts';

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

describe('unprivileged', () => {
  it('runs programs in a process group of their own, which Ctrl-C on the terminal does not reach', async () => {
    const { run } = await unprivileged(['/bin']);
    await run('sh', ['-c', 'test "$(ps -o pgid= -p $$ | tr -d " ")" = $$']);
  });

  it('rejects with what a program printed when it fails, and when there is none', async () => {
    const { run } = await unprivileged(['/bin']);
    const failed = await run('sh', ['-c', 'echo out; echo err >&2; exit 3']).then(() => 'ran', messageOf);
    expect(failed).to.contain('out\n').and.contain('err\n');
    expect(await run('no-such-program', []).then(() => 'ran', messageOf)).to.contain('spawn no-such-program');
  });
});
