import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FileWatch, watchFile } from '../../../services/platform/config/file-watch.ts';
import { until } from '../broker/fixture.ts';

describe('watchFile', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'file-watch-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  let watch: FileWatch | undefined;
  let changes = 0;
  const start = (file: string) => {
    changes = 0;
    watch = watchFile(file, () => (changes += 1), { intervalMs: 5 });
  };
  afterEach(() => watch?.close());

  /** All at once: one that is written in place is empty for a moment, which is a change, too. */
  const put = async (file: string, content: string) => {
    await writeFile(`${file}.new`, content);
    await rename(`${file}.new`, file);
  };

  it('notices new content, once', async () => {
    const [file, other] = [join(folder, 'brokers.env'), join(folder, 'other')];
    await put(file, 'a');
    const seen: string[] = [];
    let others = 0;
    watch = watchFile(file, () => seen.push(readFileSync(file, 'utf8')), { intervalMs: 5 });
    const control = watchFile(other, () => (others += 1), { intervalMs: 5 });
    await put(file, 'b');
    await until(() => seen.length > 0, 'the change is noticed');
    await put(file, 'b');
    for (let round = 1; round <= 3; round += 1) {
      await put(other, String(round));
      await until(() => others === round, 'another watch has looked meanwhile');
    }
    control.close();
    await put(file, 'c');
    await until(() => seen.includes('c'), 'the next change is noticed');
    expect(seen).to.deep.equal(['b', 'c']);
  });

  it('notices a file that appears, and one that goes', async () => {
    const file = join(folder, 'brokers.env');
    start(file);
    await put(file, 'BROKER_URL_1=a');
    await until(() => changes === 1, 'the file is noticed');
    await rm(file);
    await until(() => changes === 2, 'its absence is noticed');
  });

  it('notices the swapped symbolic link of a mounted Secret', async () => {
    for (const version of ['..one', '..two']) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'brokers.env'), `BROKER_URL_1=${version}`);
    }
    await symlink('..one', join(folder, '..data'));
    await symlink('..data/brokers.env', join(folder, 'brokers.env'));
    start(join(folder, 'brokers.env'));
    await symlink('..two', join(folder, '..data.new'));
    await rename(join(folder, '..data.new'), join(folder, '..data'));
    await until(() => changes === 1, 'the swap is noticed');
  });

  it('is silent once closed', async () => {
    const file = join(folder, 'brokers.env');
    start(file);
    watch?.close();
    const second = join(folder, 'second.env');
    let others = 0;
    const control = watchFile(second, () => (others += 1), { intervalMs: 5 });
    await writeFile(file, 'BROKER_URL_1=a');
    await writeFile(second, 'BROKER_URL_1=a');
    await until(() => others > 0, 'a watch that is open notices');
    control.close();
    expect(changes).to.equal(0);
  });
});
