// Finds programs on this machine.
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Need } from './need.ts';

/** The folder in which `scripts/tools/` keeps what it builds and runs. */
export const toolsCache = process.env['SIGNALBOX_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'signalbox');

/** Looks in `folders`, then in those of PATH. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const path = process.env['PATH']?.split(delimiter) ?? [];
  return [...folders, ...path].map((folder) => join(folder, name)).find(isExecutable);
}

/** For `describeWith`: tests that run what a person would type. */
export function commandLine(...names: readonly string[]): Need {
  const missing = names.filter((name) => findProgram(name) === undefined);
  return { name: 'command line', missing: missing.length > 0 ? `no ${missing.join(', no ')} on PATH` : undefined };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
