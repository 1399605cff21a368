// Logs of a laptop run: everything into a file, warnings also to the terminal, in words.
import { createWriteStream } from 'node:fs';
import { multistream } from 'pino';
import { z } from 'zod';
import { createLog, type Log } from '../platform/log.ts';

export type LaptopLog = { log(name: string): Log; close(): Promise<void> };

const Line = z.looseObject({
  level: z.string(),
  time: z.string(),
  service: z.string(),
  msg: z.string().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

function forPeople(line: string): string {
  const { level, time, service, msg = '', error } = Line.parse(JSON.parse(line));
  return `${time.slice(11, 19)} ${level.padEnd(5)} ${service}: ${msg}${error ? ` (${error.message})` : ''}\n`;
}

export function openLaptopLog(file: string, level: string, write: (text: string) => void): LaptopLog {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 });
  const destination = multistream([
    { level: 'trace', stream },
    { level: 'warn', stream: { write: (line: string) => write(forPeople(line)) } },
  ]);
  return {
    log: (name) => createLog({ level, name, destination }),
    close: () => new Promise((resolve) => stream.end(resolve)),
  };
}
