// All SQL of page checks.
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { rowsStatement } from '../../platform/postgres/rows.ts';

export type DueBookmark = { readonly id: string; readonly url: string; readonly failures: number };

/** A check to record. */
export type CheckedBookmark = {
  readonly id: string;
  /** The address that was checked: a bookmark whose address has changed since then is not updated. */
  readonly url: string;
  readonly checkedAt: Date;
  readonly status: number | null;
  readonly failures: number;
  readonly dead: boolean;
  readonly checkAt: Date;
};

export type DeadBookmark = { readonly id: string; readonly title: string; readonly url: string; readonly status: number | null };

const due = statement<DueBookmark, [now: Date, limit: number]>(
  'checks.due',
  'select id, url, failures from bookmarks where check_at <= $1 order by check_at, id limit $2',
);

const postpone = statement<unknown, [ids: readonly string[], checkAt: Date]>(
  'checks.postpone',
  'update bookmarks set check_at = $2 where id = any($1::uuid[])',
);

const record = rowsStatement<DeadBookmark & { readonly isNewlyDead: boolean }, [checks: readonly CheckedBookmark[]]>(
  'checks.record',
  [{ id: 'uuid', url: 'text', checkedAt: 'timestamptz', status: 'smallint', failures: 'smallint', dead: 'boolean', checkAt: 'timestamptz' }],
  (given) => `
  with before as (select id, dead from bookmarks where id in (select id from ${given} as given))
  update bookmarks set checked_at = given.checked_at, status = given.status, failures = given.failures, dead = given.dead, check_at = given.check_at
  from ${given} as given join before using (id)
  where bookmarks.id = given.id and bookmarks.url = given.url
  returning bookmarks.id, title, bookmarks.url, given.status, given.dead and not before.dead as "isNewlyDead"`,
);

// A partial index has them.
const countDead = statement<{ dead: number }>('checks.countDead', 'select count(*) as dead from bookmarks where dead');

const renewRevision = statement('checks.renewRevision', 'update catalogue set revision = gen_random_uuid()');

export type CheckStore = ReturnType<typeof createCheckStore>;

export const createCheckStore = (database: Database) => ({
  due: (now: Date, limit: number) => database.all(due, now, limit),
  countDead: async () => (await database.first(countDead))?.dead ?? 0,
  postpone: (ids: readonly string[], checkAt: Date) => database.run(postpone, ids, checkAt),
  /**
   * The first statement locks the row of the catalogue, so that its writes take turns.
   * @param onDead gets the bookmarks that these checks turned from alive to dead
   * @returns how many those are
   */
  record: (checks: readonly CheckedBookmark[], onDead: (inTransaction: Database, dead: readonly DeadBookmark[]) => Promise<void>) =>
    database.transaction(async (inTransaction) => {
      await inTransaction.run(renewRevision);
      const dead = (await inTransaction.all(record, checks)).filter(({ isNewlyDead }) => isNewlyDead);
      await onDead(inTransaction, dead);
      return dead.length;
    }),
});
