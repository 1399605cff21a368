import { expect } from 'chai';
import { startProcess } from './processes.ts';

describe('startProcess', () => {
  it('collects what the command prints, and tells how it ended', async () => {
    const command = startProcess(['--version']);
    const [version] = await command.waitForLine(/^\d+\.\d+\.\d+$/);
    expect(await command.exited).to.deep.equal({ code: 0, signal: null });
    expect(command.lines).to.deep.equal([version]);
  });

  it('shows what was printed when the awaited line cannot come any more', async () => {
    const command = startProcess(['no-such-word']);
    const failure = await command.waitForLine(/^ready$/).catch((error: unknown) => error);
    expect(String(failure)).to.match(/the process ended without a line like \/\^ready\$\/; it printed:\n.*no-such-word/s);
  });
});
