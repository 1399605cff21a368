// The dotenv file of broker connections: what it sets, and the lines in it that say nothing, by number and never by content.
import { readFile } from 'node:fs/promises';
import { ConfigError, type Environment } from '../config/config.ts';
import { DotenvError, type DotenvFault, parseDotenv } from '../config/dotenv.ts';

type BrokerDotenv = {
  readonly settings: Environment;
  /** Lines that set something else than a broker connection. */
  readonly unknownLines: readonly number[];
  readonly isBlank: boolean;
};

/** @throws ConfigError when it is missing or otherwise unreadable, and naming the lines that `parseDotenv` refuses */
export async function readDotenv(file: string): Promise<BrokerDotenv> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UnreadableFile(error);
  });
  try {
    const entries = parseDotenv(text);
    return {
      settings: Object.fromEntries(entries.map(({ name, value }) => [name, value])),
      unknownLines: entries.filter(({ name }) => !ours.test(name)).map(({ line }) => line),
      isBlank: text.trim() === '',
    };
  } catch (error) {
    throw error instanceof DotenvError ? new ConfigError(told(error.faults)) : error;
  }
}

const ours = /^BROKER_(URL|LIMIT)_[1-9]\d*(_FILE)?$/;

export class UnreadableFile extends ConfigError {
  readonly isMissing: boolean;

  constructor(cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable';
    super([`the file of broker connections ${code === 'ENOENT' ? 'is missing' : 'cannot be read'} (${code})`]);
    this.isMissing = code === 'ENOENT';
  }
}

/** One sentence for each kind of fault: another kind of file may have many lines. */
function told(faults: readonly DotenvFault[]): string[] {
  const kinds = Map.groupBy(faults, ({ says }) => says);
  return [...kinds].map(([says, found]) => {
    const lines = found.map(({ line }) => line);
    return `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')} of the file of broker connections: ${says}`;
  });
}
