// The acts of commands in the audit: who worked on the database itself, and how it ended.
import { v7 as newId } from 'uuid';
import type { Database } from '../../platform/postgres/pool.ts';
import { isUnavailable } from '../../platform/postgres/errors.ts';
import { SealBroken } from '../encryption/envelope.ts';
import { type Action, createAuditStore, createEntry, type Outcome } from '../audit.ts';
import { BackupRefused } from './backup-file.ts';

/** A restore finds something where nothing may be. */
export class NotEmpty extends Error {}

/** @param subject what the command works with: the master key that it seals with */
export async function createRecorder(database: Database, subject: string | null) {
  const role = await createAuditStore(database).role();
  // Names the run: its entries belong together.
  const requestId = newId();
  const actor = { plane: 'command', keyId: `role ${role}`, requestId } as const;
  /** @param within a transaction, where both or neither is to be kept */
  const note = async (action: Action, outcome: Outcome, within = database): Promise<void> => {
    await createAuditStore(within).add([createEntry(actor, { action, application: '*', subject }, { occurredAt: new Date(), outcome })]);
  };
  /** Notes the failure, and throws it as it was, also when it cannot be noted. */
  const failed = async (action: Action, error: unknown): Promise<never> => {
    const outcome = outcomeOfFailure(error);
    if (outcome !== 'unavailable') await note(action, outcome).catch(() => undefined); // the first failure is the one to mend
    throw error;
  };
  return {
    note,
    failed,
    /** An entry before the work and one after it: of what is killed, or loses its database, the first one stays alone. */
    async around<T>(name: 'backup' | 'rewrap', work: () => Promise<T>, outcomeOf: () => Outcome = () => 'done'): Promise<T> {
      await note(`${name}.begin`, 'done');
      const result = await work().catch((error: unknown) => failed(`${name}.end`, error));
      await note(`${name}.end`, outcomeOf());
      return result;
    },
  };
}

function outcomeOfFailure(error: unknown): Outcome {
  if (error instanceof NotEmpty) return 'conflict';
  if (error instanceof BackupRefused) return 'invalid';
  if (error instanceof Error && error.cause instanceof SealBroken) return 'refused';
  return isUnavailable(error) ? 'unavailable' : 'failed';
}
