// Keeps the record of every act: with a write in its own transaction, of everything else in batches.
import { v7 as newId } from 'uuid';
import { Problem } from '../../platform/problem.ts';
import { isLockTimeout, isUnavailable } from '../../platform/postgres/errors.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import { applicationBusy, type Turns } from '../applications/turns.ts';
import type { KeyCheck } from '../encryption/key-check.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { type Actor, type AuditEntry, createAuditStore, type Outcome, type Target } from './store.ts';
import type { AuditWriter } from './writer.ts';

/** How a write ended well. */
export type Done<T> = {
  readonly result: T;
  readonly applicationId: string;
  /** Where one act has several parts, an entry for each. */
  readonly parts?: readonly { readonly environment: string; readonly version: number }[];
};

export type Audit = {
  /**
   * Does a write and records it, both or neither; what refused it is recorded too.
   * @throws Problem 503 when the master keys are not usable, or when the application is held by others; then nothing was written
   */
  write<T>(actor: Actor, target: Target, work: (inTransaction: Database, active: MasterKey) => Promise<Done<T>>): Promise<T>;
  /** Records a consumer's read. */
  read(actor: Actor, target: Target, found: Pick<AuditEntry, 'applicationId' | 'version' | 'outcome'>): void;
  /** False when no more can be recorded, so that nothing more may be read. */
  readonly hasRoom: boolean;
};

export type AuditParts = {
  /** For the writes; those that wait for a lock take connections away from nothing else. */
  readonly database: Database;
  readonly turns: Turns;
  readonly keyCheck: Pick<KeyCheck, 'requireActive'>;
  readonly writer: Pick<AuditWriter, 'record' | 'hasRoom'>;
  readonly clock: () => Date;
};

export function createAudit({ database, turns, keyCheck, writer, clock }: AuditParts): Audit {
  const entryOf = ({ plane, keyId, requestId }: Actor, target: Target, rest: Pick<AuditEntry, 'applicationId' | 'version' | 'outcome'>): AuditEntry => ({
    id: newId(),
    occurredAt: clock(),
    plane,
    keyId,
    requestId,
    action: target.action,
    application: target.application,
    environment: target.environment ?? null,
    subject: target.subject ?? null,
    ...rest,
  });

  function attempt<T>(actor: Actor, target: Target, work: (inTransaction: Database) => Promise<Done<T>>): Promise<T> {
    return database.transaction(async (inTransaction) => {
      const { result, applicationId, parts } = await work(inTransaction);
      const done = { applicationId, outcome: 'done' } as const;
      const entries = parts?.map(({ environment, version }) => entryOf(actor, { ...target, environment }, { ...done, version }));
      await createAuditStore(inTransaction).add(entries ?? [entryOf(actor, target, { ...done, version: null })]);
      return result;
    });
  }

  return {
    async write(actor, target, work) {
      try {
        const active = await keyCheck.requireActive();
        return await turns.take(target.application, () => attempt(actor, target, (inTransaction) => work(inTransaction, active)));
      } catch (caught) {
        const error = isLockTimeout(caught) ? applicationBusy() : caught;
        if (writer.hasRoom) writer.record(entryOf(actor, target, { applicationId: null, version: null, outcome: outcomeOf(error) }));
        throw error;
      }
    },
    read(actor, target, found) {
      writer.record(entryOf(actor, target, found));
    },
    get hasRoom() {
      return writer.hasRoom;
    },
  };
}

const outcomes: Readonly<Record<number, Outcome>> = { 400: 'invalid', 404: 'not-found', 409: 'conflict', 503: 'unavailable' };
function outcomeOf(error: unknown): Outcome {
  if (error instanceof Problem) return outcomes[error.status] ?? 'failed';
  return isUnavailable(error) ? 'unavailable' : 'failed';
}
