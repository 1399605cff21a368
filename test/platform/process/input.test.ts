import { expect } from 'chai';
import { createProgress, openInput } from '../../../services/platform/process/input.ts';
import { temporaryDirectory } from '../../support/guard.ts';
import { eventually } from '../../support/wait.ts';

type Drawing = { readonly size: number | undefined; readonly isTTY?: boolean; readonly describe?: (bytes: number) => string };

/** The terminal after three pieces of a MiB each. */
async function drawn({ size, isTTY = true, describe }: Drawing): Promise<readonly string[]> {
  const written: string[] = [];
  const progress = createProgress({ isTTY, write: (text) => written.push(String(text)) > 0 }, size, describe && { describe });
  for await (const piece of progress.count(Array<Buffer>(3).fill(Buffer.alloc(1_048_576)))) expect(piece).to.have.length(1_048_576);
  progress.end();
  progress.end();
  return written;
}

describe('progress', () => {
  for (const [size, said] of [
    [3_145_728, '[==============================] 100 %  3.0 MiB'],
    [6_291_456, '[===============               ]  50 %  3.0 MiB'],
    [1, '[==============================] 100 %  3.0 MiB'],
    [undefined, '3.0 MiB'],
  ] as const)
    it(`tells on a terminal how far it is, of ${size ?? 'unknown'} bytes`, async () => {
      expect(await drawn({ size })).to.deep.equal([`\r\u001b[K${said}`, '\n']);
    });

  it('tells it in the words of the command', async () => {
    expect(await drawn({ size: undefined, describe: (bytes) => `${bytes / 1024} lines` })).to.deep.equal(['\r\u001b[K3072 lines', '\n']);
  });

  it('tells what it waits for once everything has passed, and a full bar at the end', async () => {
    const written: string[] = [];
    const progress = createProgress({ isTTY: true, write: (text) => written.push(String(text)) > 0 }, 10, { waiting: 'the service stores them' });
    for await (const piece of progress.count([Buffer.alloc(10)])) expect(piece).to.have.length(10);
    await eventually(() => written.includes('\r\u001b[K0.0 MiB sent, the service stores them: 0 s'));
    progress.end();
    expect(written.slice(-2)).to.deep.equal(['\r\u001b[K[==============================] 100 %  0.0 MiB', '\n']);
  });

  it('is not drawn outside a terminal', async () => {
    expect(await drawn({ size: 1, isTTY: false })).to.deep.equal([]);
  });
});

describe('input', () => {
  it('that cannot be read is named, with the reason', async () => {
    for (const [file, reason] of [
      [temporaryDirectory('input'), 'it is a folder'],
      ['/nowhere/file', 'ENOENT'],
    ] as const)
      expect(String(await openInput(file).catch((error: unknown) => error)))
        .to.include(`${file} cannot be read`)
        .and.to.include(reason);
  });
});
