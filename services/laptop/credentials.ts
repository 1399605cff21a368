// What a first start generates and every later one finds again: credentials, in one file that only its owner reads.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { type Environment, isGiven, type Settings } from '../platform/config.ts';

export type CredentialsParts = {
  readonly file: string;
  readonly environment: Environment;
  /** The settings of everything that will run. */
  readonly settings: readonly Settings[];
  /** Credentials of the laptop itself, beside those that settings declare. */
  readonly extra: Readonly<Record<string, () => string>>;
};

/** Every setting that can be generated: from the environment when given there, else from the file, else made and kept. */
export async function credentials({ file, environment, settings, extra }: CredentialsParts): Promise<Record<string, string>> {
  const kept = z.record(z.string(), z.string()).parse(parseEnv(await readFile(file, 'utf8').catch(whenMissing)));
  const declared = settings.flatMap((group) => Object.values(group)).flatMap(({ name, generate }) => (generate ? [[name, generate] as const] : []));
  const makers = new Map([...Object.entries(extra), ...declared]);

  const fresh = [...makers].filter(([name]) => kept[name] === undefined && !isGiven(environment, name)).map(([name, make]) => [name, make()] as const);
  const all = { ...kept, ...Object.fromEntries(fresh) };
  if (fresh.length > 0) await save(file, all);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !isGiven(environment, name)));
}

function whenMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

async function save(file: string, values: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`);
  const draft = `${file}.new`;
  await writeFile(draft, ['# Generated on the first start; delete the folder to begin anew.\n', ...lines].join(''), { mode: 0o600 });
  await rename(draft, file);
}
