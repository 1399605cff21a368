// What an import is made of: for each line of the file, what it changes, and how.
import type { z } from 'zod';
import type { ConsumerClient, ManagementClient } from '../client.ts';
import type { DotenvEntry } from '../../platform/config/dotenv.ts';

/** `keep`: a secret that cannot be compared; `empty`: a value that the service does not take. */
export type Change = 'create' | 'update' | 'unchanged' | 'keep' | 'empty';

export type Step = {
  readonly name: string;
  readonly change: Change;
  /** Absent where nothing is to be done. */
  readonly apply?: () => Promise<unknown>;
};

export type Target = {
  readonly management: ManagementClient;
  /** With the application's own key, when there is one. */
  readonly consumer: ConsumerClient | undefined;
  readonly application: string;
  readonly environment: string;
  /** Secrets that cannot be compared get a new version. */
  readonly overwrite: boolean;
};

export const isEmpty = ({ value }: DotenvEntry) => value.trim() === '';

/** @throws Error with every entry that the service would refuse, by line and never with a value */
export function requireAcceptable(entries: readonly DotenvEntry[], faultsOf: (entry: DotenvEntry) => readonly z.core.$ZodIssue[]): void {
  const faults = entries.flatMap((entry) =>
    faultsOf(entry).map(({ path, message }) => `line ${entry.line}: the ${path.join('.')} of ${entry.name} ${message}`),
  );
  if (faults.length > 0) throw new Error(`the file is not imported:\n${faults.join('\n')}`);
}
