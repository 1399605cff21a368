// Watches a file by its content, as mounted configuration changes under a running process.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

export type FileWatch = {
  close(): void;
};

/** Compares with the content at the time of this call, so watch first and read after. A missing file counts as empty
 *  content of its own. Polling: Kubernetes swaps a symbolic link two levels up, which file events do not show. */
export function watchFile(file: string, onChange: () => void, { intervalMs }: { readonly intervalMs: number }): FileWatch {
  let known = contentOf(file);
  let isClosed = false;

  async function look(): Promise<void> {
    const content = await readFile(file).then(hash, (error: unknown) => unreadable(error, known));
    if (isClosed) return;
    if (content !== known) {
      known = content;
      onChange();
    }
    timer = setTimeout(() => void look(), intervalMs).unref();
  }

  let timer = setTimeout(() => void look(), intervalMs).unref();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

const missing = 'missing';
const hash = (content: Buffer) => createHash('sha256').update(content).digest('hex');

// What cannot be read for another reason, as in the midst of a swap, has not changed yet.
const unreadable = (error: unknown, known: string) => (isMissing(error) ? missing : known);
const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

function contentOf(file: string): string {
  try {
    return hash(readFileSync(file));
  } catch (error) {
    return unreadable(error, 'unreadable');
  }
}
