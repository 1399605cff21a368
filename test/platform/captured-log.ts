// A real log whose lines a test can read.
import { createLog, type Log } from '../../services/platform/log.ts';

export type Line = { readonly level: string; readonly msg: string; readonly [member: string]: unknown };

export type CapturedLog = { readonly log: Log; readonly text: () => string; readonly lines: () => readonly Line[] };

export function captureLog(level = 'debug'): CapturedLog {
  const written: string[] = [];
  const log = createLog({ level, name: 'test', destination: { write: (line) => void written.push(line) } });
  return { log, text: () => written.join(''), lines: () => written.map((line): Line => JSON.parse(line)) };
}
