// The files of the spool's folders: written so that they are there after a power cut, listed, and read.
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { lstat, open, readdir, readFile } from 'node:fs/promises';
import { ifThere } from '../../platform/files.ts';
import { type Corrupt, corruptText, decodeFirstLine, decodeSpooled, parseFileName, type SpooledDelivery, type SpoolFile } from './file-format.ts';

/** A new file, whole and on the disk when this resolves; what a failure leaves behind is the caller's to remove. */
export async function writeDurably(path: string, chunks: Iterable<Buffer>): Promise<void> {
  await using file = await open(path, 'wx', 0o600); // payloads may hold secrets, which no other user of the machine should read
  await file.writeFile(chunks);
  await file.sync();
}

/** Puts the renames made so far on the disk. */
export async function syncFolder(folder: string): Promise<void> {
  await using entry = await open(folder, 'r');
  await entry.sync();
}

/** The spool files of a folder, oldest first; none of one that is not there. */
export const listFiles = async (folder: string): Promise<SpoolFile[]> =>
  ((await ifThere(readdir(folder))) ?? []).toSorted().flatMap((name) => parseFileName(name) ?? []);

/** The first line of a file, without its payload; undefined when it is gone or damaged. */
export async function readHeader(path: string) {
  return decodeFirstLine((await ifThere(firstLineOf(path))) ?? '');
}

async function firstLineOf(path: string): Promise<string> {
  const stream = createReadStream(path);
  try {
    await once(stream, 'open');
    for await (const line of createInterface({ input: stream })) return line;
    return '';
  } finally {
    stream.destroy();
  }
}

/** More than any setting lets a delivery be; read all the same, it would end the process, this one and the next. */
const largestBytes = 400 * 1024 * 1024;

/** Undefined when it is gone. Rejects when it cannot be read now. */
export async function readSpooled(path: string): Promise<SpooledDelivery | Corrupt | undefined> {
  const found = await ifThere(lstat(path));
  if (!found) return undefined;
  if (!found.isFile()) return { corrupt: 'it is not a file' }; // a folder, a link or a pipe that has the name of a spool file
  if (found.size > largestBytes) return { corrupt: `it has ${found.size} bytes, more than any delivery` };
  return decodeSpooled(await readFile(path));
}

/** Why a file cannot be read as a delivery; undefined when it can, or is gone. */
export async function readCorruption(path: string): Promise<string | undefined> {
  const found = await readSpooled(path);
  return found && 'corrupt' in found ? corruptText(found.corrupt) : undefined;
}
