// Writing so that it is there after a power cut: the file's bytes first, then the directory's entry.
import { open } from 'node:fs/promises';

/** A new file, whole and on the disk when this resolves; what a failure leaves behind is the caller's to remove. */
export async function writeDurably(path: string, chunks: Iterable<Buffer>): Promise<void> {
  const file = await open(path, 'wx', 0o600); // payloads may hold what nobody else on the machine should read
  try {
    await file.writeFile(chunks);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const entry = await open(directory, 'r');
  try {
    await entry.sync();
  } finally {
    await entry.close();
  }
}

/** Puts the renames made so far on the disk. Those that ask while one sync runs share the next one:
 *  a burst costs a few syncs of the directory, not one a file. */
export function createDirectorySync(directory: string): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    running = syncDirectory(directory).finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (!running) return begin();
    return (next ??= running.then(begin, begin));
  };
}
