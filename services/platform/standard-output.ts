// Standard output for log lines: gathered for a second at most, given up when nobody reads them any more.
import { writeSync } from 'node:fs';

/** Fewer system calls: a busy service would spend one on every access line. */
const fullBytes = 16 * 1024;
const flushEveryMs = 1000;
/** What a reader that does not read may cost; the newest lines are dropped beyond it. */
const mostBytes = 8 * 1024 * 1024;

export type LineSink = { write(line: string): void };

/** Not pino's own destination: at the exit that one tries for ever to write into a pipe whose reader has gone (sonic-boom 4). */
export function standardOutput(fd = 1): LineSink {
  let pending = '';
  let isRead = true;

  function flush(): void {
    let rest = Buffer.from(pending);
    pending = '';
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      isRead = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
      if (isRead) pending = rest.toString();
    }
  }

  setInterval(flush, flushEveryMs).unref();
  process.on('exit', flush);
  return {
    write(line) {
      if (!isRead || pending.length > mostBytes) return;
      pending += line;
      if (pending.length >= fullBytes) flush();
    },
  };
}
