// The dotenv file of broker connections: what it sets, and the lines in it that say nothing, by number and never by content.
import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { ConfigError, type Environment } from '../config.ts';

export type Dotenv = {
  readonly settings: Environment;
  /** Lines that set something else than a broker connection. */
  readonly unknownLines: readonly number[];
};

/**
 * @param text one line a setting, `NAME=value`; a quoted value may go on over several lines
 * @throws ConfigError naming the lines that are neither a setting, a comment nor blank
 */
export function parseDotenv(text: string): Dotenv {
  const malformed: number[] = [];
  const unknownLines: number[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]?.trim() ?? '';
    if (line === '' || line.startsWith('#')) continue;
    const [, name, quote, rest] = setting.exec(line) ?? [];
    if (name === undefined || line.includes('\0')) malformed.push(index + 1);
    else if (!ours.test(name)) unknownLines.push(index + 1);
    if (quote !== undefined && rest !== undefined && !rest.includes(quote)) index = lastLineOf(lines, index, quote);
  }
  if (malformed.length > 0) throw new ConfigError([`${numbered(malformed)} of the file of broker connections: neither NAME=value nor a comment`]);
  return { settings: parseEnv(lines.join('\n')), unknownLines };
}

/** @throws ConfigError when it is missing or otherwise unreadable, and as above */
export async function readDotenv(file: string): Promise<Dotenv & { readonly isBlank: boolean }> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UnreadableFile(error);
  });
  return { ...parseDotenv(text), isBlank: text.trim() === '' };
}

export class UnreadableFile extends ConfigError {
  readonly isMissing: boolean;

  constructor(cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable';
    super([`the file of broker connections ${code === 'ENOENT' ? 'is missing' : 'cannot be read'} (${code})`]);
    this.isMissing = code === 'ENOENT';
  }
}

const setting = /^(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(?:(["'`])(.*))?/;
const ours = /^BROKER_(URL|LIMIT)_[1-9]\d*(_FILE)?$/;

/** Where a quoted value ends; one that never ends is one line for `parseEnv`, too. */
function lastLineOf(lines: readonly string[], first: number, quote: string): number {
  const last = lines.findIndex((line, index) => index > first && line.includes(quote));
  return last < 0 ? first : last;
}

export const numbered = (lines: readonly number[]): string => `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`;
