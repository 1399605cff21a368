// Parses untrusted alert mails in a thread with limits of time and memory.
import { type Bounds, createBoundedParser as createParser } from '../../platform/mail/bounded-parser.ts';
import { AlertMail } from './parser.ts';

/** @returns a parser that never rejects: a refused mail is `failed`, with the reason */
export function createBoundedParser(linkPattern: RegExp, bounds: Bounds = {}) {
  const module = new URL('./parser-thread.ts', import.meta.url);
  const parse = createParser({ module, data: linkPattern, result: AlertMail, memoryMiB: 128, ...bounds });
  return async (raw: Buffer): Promise<AlertMail> => {
    const parsed = await parse(raw);
    return parsed.kind === 'parsed' ? parsed.value : { kind: 'failed', reason: parsed.reason };
  };
}

export type BoundedParser = ReturnType<typeof createBoundedParser>;
