import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { takeInstanceLock } from '../../services/laptop/instance-lock.ts';

describe('takeInstanceLock', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-lock-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('refuses a folder that a living process holds, and names it', async () => {
    const file = join(folder, 'pid');
    await writeFile(file, String(process.ppid));
    const refusal = await takeInstanceLock(file).then(() => undefined, String);
    expect(refusal).to.contain(`process ${process.ppid}`);
  });

  it('takes over from a process that died', async () => {
    const file = join(folder, 'pid');
    await writeFile(file, String(spawnSync('true').pid));
    await (await takeInstanceLock(file)).close();
    expect(await stat(file).catch(() => undefined)).to.equal(undefined);
  });
});
