// A write of an administrator as one unit of work: the write, its audit entry and what it adds to the change feed in one transaction, all or nothing.
import { isDeadlock, isLockTimeout, isUnavailable } from '../../platform/postgres/errors.ts';
import type { Database } from '../../platform/postgres/pool.ts';
import type { RouteRequest } from '../../platform/http/route.ts';
import { Problem } from '../../platform/problem.ts';
import { type Audit, createAuditStore, createEntry, type Outcome, type Target } from '../audit.ts';
import { changesOf, createChangeStore } from '../changes/store.ts';
import { Problems } from '../contract.ts';
import { SealBroken } from '../encryption/envelope.ts';
import type { KeyCheck } from '../encryption/key-check.ts';
import type { MasterKey } from '../encryption/master-keys.ts';
import { createManagementStore, type ManagementStore } from './store.ts';

/** A request that the guard of the management plane let pass. */
type AdminRequest = Pick<RouteRequest<undefined, undefined, undefined>, 'principal' | 'requestId'>;

/** How a write ended well. */
type Done<T> = {
  readonly result: T;
  readonly applicationId: string;
  /** The part of it that is kept nowhere else. */
  readonly detail?: string | undefined;
  /** Where one act has several parts, an audit entry for each. */
  readonly parts?: readonly { readonly environment: string; readonly version?: number; readonly subject?: string; readonly detail?: string }[];
};

export type UnitOfWork = ReturnType<typeof createUnitOfWork>;

export function createUnitOfWork({
  database,
  keyCheck,
  audit,
  clock,
}: {
  /** With a lock timeout, so that a row that another transaction holds is given up. */
  readonly database: Database;
  readonly keyCheck: Pick<KeyCheck, 'requireActive'>;
  readonly audit: Pick<Audit, 'record' | 'hasRoom'>;
  readonly clock: () => Date;
}) {
  /**
   * Does a write and records it; a refusal is recorded, too.
   * @throws Problem 503 when the master keys are not usable, or when others hold the application for too long; then nothing was written
   */
  async function run<T>(request: AdminRequest, target: Target, work: (store: ManagementStore, active: MasterKey) => Promise<Done<T>>): Promise<T> {
    const { principal, requestId } = request;
    const actor = { plane: 'management', keyId: `admin-${principal.id}`, person: principal.actor ?? null, requestId } as const;
    try {
      const active = await keyCheck.requireActive();
      return await database.transaction(async (inTransaction) => {
        const store = createManagementStore(inTransaction);
        const { result, applicationId, detail: kept = null, parts } = await work(store, active);
        const done = { occurredAt: clock(), outcome: 'done', applicationId, detail: kept } as const;
        const entries = parts?.map(({ environment, version, subject, detail }) =>
          createEntry(
            actor,
            { ...target, environment, ...(subject !== undefined && { subject }) },
            { ...done, version: version ?? null, ...(detail && { detail }) },
          ),
        );
        // An import that changed nothing is recorded, too: it may have compared a guess with a value.
        const isWhole = !entries || (entries.length === 0 && target.action.endsWith('.import'));
        await createAuditStore(inTransaction).add(isWhole ? [createEntry(actor, target, done)] : entries);
        // The last one: from here to the commit the writes to all applications take turns.
        await createChangeStore(inTransaction).append(changesOf(target, await placesOf(store, { target, applicationId, parts }), done.occurredAt));
        return result;
      });
    } catch (caught) {
      // The deletion of a secret or an environment and counts of its reads can wait for each other.
      const isBusy = isLockTimeout(caught) || isDeadlock(caught);
      const error = isBusy ? Problems.applicationBusy({ headers: { 'Retry-After': '5' } }) : caught;
      if (audit.hasRoom) audit.record(createEntry(actor, target, { occurredAt: clock(), ...refusalOf(error) }));
      throw error;
    }
  }

  return {
    clock,
    run,
    /** A write to the application of the path; `detailOf` is what the audit keeps of its result. @throws Problem 404 when there is none */
    change: <T>(
      request: AdminRequest & { readonly params: { readonly slug: string } },
      { detailOf, ...target }: Omit<Target, 'application'> & { readonly detailOf?: (result: NoInfer<T>) => string | undefined },
      work: (store: ManagementStore, applicationId: string, now: Date) => Promise<T>,
    ): Promise<T> =>
      run(request, { ...target, application: request.params.slug }, async (store) => {
        const applicationId = await lockApplication(store, request.params.slug);
        const result = await work(store, applicationId, clock());
        return { applicationId, result, detail: detailOf?.(result) };
      }),
  };
}

type Written = { readonly target: Target; readonly applicationId: string; readonly parts: Done<unknown>['parts'] | undefined };

/** The environments that a write changed, with those that inherit from them; undefined where it names none. */
async function placesOf(store: ManagementStore, { target, applicationId, parts }: Written): Promise<readonly string[] | undefined> {
  const named = parts?.map(({ environment }) => environment) ?? (typeof target.environment === 'string' ? [target.environment] : undefined);
  if (named === undefined || named.length === 0) return named;
  return [...named, ...(await store.environments.heirs(applicationId, named))];
}

/** Until the transaction ends no other one writes to the application or what belongs to it. @throws Problem 404 */
export async function lockApplication(store: ManagementStore, slug: string): Promise<string> {
  const id = await store.applications.lock(slug);
  if (id === undefined) throw Problems.applicationMissing();
  return id;
}

const outcomeOfStatus: Readonly<Record<number, Outcome>> = { 400: 'invalid', 404: 'not-found', 409: 'conflict', 503: 'unavailable' };

function refusalOf(error: unknown): { readonly outcome: Outcome; readonly detail: string | null } {
  if (error instanceof SealBroken) return { outcome: 'refused', detail: null };
  if (error instanceof Problem) return { outcome: outcomeOfStatus[error.status] ?? 'failed', detail: error.kind.title };
  return { outcome: isUnavailable(error) ? 'unavailable' : 'failed', detail: null };
}
