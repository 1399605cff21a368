// A file that is there whole, or as it was before.
import { rename, rm } from 'node:fs/promises';

/**
 * Writes beside the file and renames, so that neither a crash nor a full disk leaves half of it.
 * @param write creates the file at the path that it gets
 */
export async function writeWhole(file: string, write: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  try {
    await write(partial);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
