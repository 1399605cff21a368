// The last known values in a file that only its owner can read, so that a program can start while the service is unavailable.
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';

export type Entries = Map<string, { readonly value: unknown; readonly readAt: number }>;
export type ValuesFile = ReturnType<typeof createValuesFile>;

/** @param source the service and environment of the values: a file with those of another is not read */
export function createValuesFile(path: string, source: string) {
  let saving = Promise.resolve();
  let hasWarned = false;

  async function write(text: string): Promise<void> {
    const draft = `${path}.${randomUUID()}`;
    try {
      await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      if (!hasWarned) process.emitWarning(`the file of the last known values was not written: ${error instanceof Error ? error.message : 'no reason'}`);
      hasWarned = true;
    }
  }

  return {
    /** @throws when the file is readable by others */
    async load(): Promise<Entries> {
      const found = await stat(path).catch(ifMissing);
      if (!found) return new Map();
      if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) throw new Error(`${path} can be read by others: chmod 600 ${path}`);
      const kept = parsed(await readFile(path, 'utf8'));
      return kept.source === source ? new Map(Object.entries(kept.entries)) : new Map();
    },
    /** One write after the other, so that the last one wins. A failed write is a warning of the process. */
    save(entries: Entries): Promise<void> {
      const text = JSON.stringify({ source, entries: Object.fromEntries(entries) });
      saving = saving.then(() => write(text));
      return saving;
    },
  };
}

type Kept = { readonly source?: string; readonly entries: Readonly<Record<string, { readonly value: unknown; readonly readAt: number }>> };

/** A file that is not ours has no values for us; its text is in no error. */
function parsed(text: string): Kept {
  try {
    const { source, entries } = JSON.parse(text) as Partial<Kept>;
    return typeof source === 'string' && typeof entries === 'object' ? { source, entries } : { entries: {} };
  } catch {
    return { entries: {} };
  }
}

function ifMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
