// The input of a command, a file, standard input or a password, and its progress on the terminal.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { WriteStream } from 'node:tty';
import { describeError } from '../errors.ts';

export type Input = {
  readonly bytes: AsyncIterable<Buffer>;
  /** In bytes, where it is known. */
  readonly size: number | undefined;
};

/** @param file `-` for standard input. @throws Error that names the file and says why it cannot be read */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { bytes: process.stdin, size: undefined };
  try {
    const found = await stat(file);
    if (found.isDirectory()) throw new Error('it is a folder');
    return { bytes: createReadStream(file), size: found.isFile() ? found.size : undefined };
  } catch (error) {
    throw new Error(`${file} cannot be read: ${describeError(error)}`, { cause: error });
  }
}

/** One line from a terminal, which does not show it, else standard input as a whole; without the end of its line. */
export async function readPassword(question: string, stopping: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stderr.write(question);
  // Readline echoes what is typed to its output.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => interrupted.abort());
  try {
    return await terminal.question('', { signal: AbortSignal.any([stopping, interrupted.signal]) });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

type ProgressWords = { readonly describe?: (bytes: number) => string; readonly waiting?: string };
export type Progress = ReturnType<typeof createProgress>;

const drawEveryMs = 200;
const width = 30;
const inMebibytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MiB`;

/**
 * A bar where the size is known, and in words how far it is; nothing where no person looks.
 * @param describe of the bytes that have passed
 * @param waiting what is waited for when all of them have passed: then its seconds take the place of the bar
 */
export function createProgress(
  terminal: Pick<WriteStream, 'isTTY' | 'write'>,
  size: number | undefined,
  { describe = inMebibytes, waiting }: ProgressWords = {},
) {
  let done = 0;
  let passedAt: number | undefined;
  const draw = () => {
    if (waiting !== undefined && passedAt !== undefined) {
      terminal.write(`\r\u001b[K${describe(done)} sent, ${waiting}: ${Math.floor((performance.now() - passedAt) / 1000)} s`);
      return;
    }
    const part = size === undefined ? undefined : Math.min(1, done / Math.max(size, 1));
    const filled = Math.round((part ?? 0) * width);
    const bar = part === undefined ? '' : `[${'='.repeat(filled)}${' '.repeat(width - filled)}] ${String(Math.floor(part * 100)).padStart(3)} %  `;
    terminal.write(`\r\u001b[K${bar}${describe(done)}`);
  };
  let drawing = terminal.isTTY ? setInterval(draw, drawEveryMs) : undefined;
  return {
    add: (bytes: number) => void (done += bytes),
    /** The same pieces, each counted when the next one is asked for. */
    async *count<Piece extends Uint8Array>(pieces: AsyncIterable<Piece> | Iterable<Piece>): AsyncGenerator<Piece, undefined> {
      for await (const piece of pieces) {
        yield piece;
        done += piece.length;
      }
      passedAt = performance.now();
      return undefined;
    },
    /** Leaves the last state on a line of its own; once. */
    end(): void {
      if (!drawing) return;
      clearInterval(drawing);
      drawing = undefined;
      passedAt = undefined;
      draw();
      terminal.write('\n');
    },
  };
}
