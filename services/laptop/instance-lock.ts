// One `signalbox up` a data folder: a file names the process that holds it.
import { readFile, rm, writeFile } from 'node:fs/promises';

export type InstanceLock = { close(): Promise<void> };

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** @throws Error that names the process which holds the folder; one that died holds nothing */
export async function takeInstanceLock(file: string): Promise<InstanceLock> {
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(`Signalbox already runs on this folder as process ${holder} (${file}); stop that one first, or give --data another folder`);
  }
  await writeFile(file, String(process.pid));
  return { close: () => rm(file, { force: true }) };
}
