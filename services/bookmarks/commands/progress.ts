// A line on the terminal that tells how far it is; nothing where no person looks.
import type { WriteStream } from 'node:tty';

export type Progress = ReturnType<typeof createProgress>;

const drawEveryMs = 200;
const width = 30;
const mebibytes = (bytes: number) => (bytes / 1_048_576).toFixed(1);

/** @param size in bytes, where it is known */
export function createProgress(terminal: Pick<WriteStream, 'isTTY' | 'write'>, size: number | undefined) {
  let done = 0;
  const draw = () => {
    const part = size === undefined ? undefined : Math.min(1, done / Math.max(size, 1));
    const filled = Math.round((part ?? 0) * width);
    const bar = part === undefined ? '' : `[${'='.repeat(filled)}${' '.repeat(width - filled)}] ${String(Math.floor(part * 100)).padStart(3)} %  `;
    terminal.write(`\r\u001b[K${bar}${mebibytes(done)} MiB`);
  };
  let drawing = terminal.isTTY ? setInterval(draw, drawEveryMs) : undefined;
  return {
    add: (bytes: number) => void (done += bytes),
    /** Leaves the last state on a line of its own; once. */
    end(): void {
      if (!drawing) return;
      clearInterval(drawing);
      drawing = undefined;
      draw();
      terminal.write('\n');
    },
  };
}
