// A line on the terminal that tells how far an import is; nothing where no person looks.
import type { WriteStream } from 'node:tty';

export type Progress = ReturnType<typeof createProgress>;

const drawEveryMs = 200;
const width = 30;

/** @param size in bytes, where it is known */
export function createProgress(terminal: Pick<WriteStream, 'isTTY' | 'write'>, size: number | undefined) {
  const startedAtMs = performance.now();
  let read = 0;
  let sent = 0;
  const draw = () => {
    const perSecond = Math.round(sent / Math.max((performance.now() - startedAtMs) / 1000, 0.001));
    const part = size === undefined ? undefined : Math.min(1, read / Math.max(size, 1));
    const done = Math.round((part ?? 0) * width);
    const bar = part === undefined ? '' : `[${'='.repeat(done)}${' '.repeat(width - done)}] ${String(Math.round(part * 100)).padStart(3)} %  `;
    terminal.write(`\r\u001b[K${bar}${sent} listings, ${perSecond} a second`);
  };
  const drawing = terminal.isTTY ? setInterval(draw, drawEveryMs) : undefined;
  return {
    bytes: (count: number) => void (read += count),
    /** How many have been sent in all. */
    items: (count: number) => void (sent = count),
    end(): void {
      if (!drawing) return;
      clearInterval(drawing);
      draw();
      terminal.write('\n');
    },
  };
}
