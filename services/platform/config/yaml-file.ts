// YAML files that settings name.
import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import { codeOf, describeError } from '../errors.ts';
import { ConfigError } from './config.ts';

/** @param setting that names the file @throws ConfigError when it cannot be read */
export function readFileOf(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`${setting}: cannot be read (${codeOf(error) ?? describeError(error)})`]);
  }
}

/** @param setting that names the file @throws ConfigError */
export function parseYaml(setting: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    // The parser's message quotes lines of the file, of which a mistaken path could make anything.
    if (error instanceof YAMLParseError) throw new ConfigError([`${setting}: is not YAML at line ${error.linePos?.[0].line ?? '?'} (${error.code})`]);
    throw new ConfigError([`${setting}: is not YAML (${describeError(error)})`]);
  }
}
