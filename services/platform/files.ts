// Files and folders that others may remove meanwhile.
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from './errors.ts';

/** @returns undefined where nothing is there */
export async function ifThere<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** The bytes of the disk that a folder takes, with the folders in it. */
export async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of (await ifThere(readdir(folder, { recursive: true }))) ?? []) bytes += ((await ifThere(lstat(join(folder, name))))?.blocks ?? 0) * 512;
  return bytes;
}
