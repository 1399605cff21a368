// Files that a command reads and writes: failures by the name of the file, and a backup only once it is whole.
import { createWriteStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { codeOf, hasCode, toError } from '../../platform/errors.ts';
import { writeWhole } from '../../platform/process/whole-file.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of its path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not open it',
  EROFS: 'it is on a file system that takes no writes',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EPIPE: 'its reader has closed it',
  EMFILE: 'too many files are open',
};

/** For a promise's `catch`. @throws Error that names the file and the reason; anything else as it is */
export const explainFile =
  (file: string, what: 'read' | 'written') =>
  (error: unknown): never => {
    const code = codeOf(error) ?? '';
    const reason = reasons[code];
    throw reason === undefined ? error : new Error(`${file} cannot be ${what}: ${reason} (${code})`, { cause: error });
  };

/** A failure of the file is reported by its name; one of the lines, which come from the database, is thrown as it is, though its code may be the same. */
export async function writeLines(lines: AsyncIterable<string>, file: string | undefined, signal: AbortSignal): Promise<void> {
  let failed: unknown;
  async function* watched() {
    try {
      yield* lines;
    } catch (error) {
      failed = error;
      throw error;
    }
  }
  const explain = explainFile(file ?? 'standard output', 'written');
  return write(watched(), file, signal).catch((error: unknown) => {
    if (error === failed) throw error;
    explain(error);
  });
}

async function write(lines: AsyncIterable<string>, file: string | undefined, signal: AbortSignal): Promise<void> {
  if (file === undefined) return pipeline(lines, process.stdout, { end: false, signal });
  const existing = await stat(file).catch((error: unknown) => (hasCode(error, 'ENOENT') ? undefined : Promise.reject(toError(error))));
  // A device or a pipe takes what is written; a rename would put a file in its place.
  if (existing && !existing.isFile()) return pipeline(lines, createWriteStream(file), { signal });
  const whole = existing ? await realpath(file) : file;
  await writeWhole(whole, (partial) => pipeline(lines, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }), { signal }));
}
