// Finds the programs of servers on this machine.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of PATH, or of the further folders, which come first. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const path = process.env['PATH']?.split(delimiter) ?? [];
  return [...folders, ...path].map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
