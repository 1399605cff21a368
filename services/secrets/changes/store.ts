// The change feed's rows: what a write changed, and all SQL of them.
import { validate as isUuid } from 'uuid';
import { type Database, statement } from '../../platform/postgres/pool.ts';
import { asMembers, namesOf, type RowColumns, rowsStatement } from '../../platform/postgres/rows.ts';
import type { Target } from '../audit.ts';
import type { Change } from '../contract.ts';

export type ChangeRow = Change & {
  /** In the order of the commits. */
  readonly number: number;
  /** The cursor of who has seen it. */
  readonly id: string;
};

/** @param environments of an act with several parts, that of each */
export function changesOf({ action, application, environment, subject }: Target, environments: readonly string[] | undefined, changedAt: Date): Change[] {
  const isEntry = action.startsWith('configuration.');
  const named = { secret: action.startsWith('secret.') ? (subject ?? null) : null, configuration: isEntry ? (subject ?? null) : null };
  const places = environments ? new Set(environments) : [environment ?? null];
  return [...places].map((place) => ({ action, application, environment: place, ...named, changedAt }));
}

const rowColumns: RowColumns<Change> = {
  action: 'text',
  application: 'text',
  environment: 'text',
  secret: 'text',
  configuration: 'text',
  changedAt: 'timestamptz',
};

// The transaction that updates the one row of change_feed holds it until the commit, so numbers become visible in order.
const append = rowsStatement<unknown, [changes: readonly Change[], count: number]>(
  'changes.append',
  [rowColumns, 'bigint'],
  (given, count) => `
  with feed as (update change_feed set newest = newest + ${count} returning newest)
  insert into changes (number, ${namesOf(rowColumns)})
  select feed.newest - ${count} + given.ordinal, ${namesOf(rowColumns)} from feed, ${given} as given`,
);

const columns = `number, id, ${asMembers(rowColumns)}`;

const newest = statement<{ id: string }>('changes.newest', 'select id from changes order by number desc limit 1');

// One statement, so that no housekeeping comes between the cursor and what follows it.
const from = statement<ChangeRow, [cursor: string, limit: number]>(
  'changes.from',
  `
  select ${columns} from changes where number >= (select number from changes where id = $1) order by number limit $2`,
);

const after = statement<ChangeRow, [number: number, limit: number]>(
  'changes.after',
  `
  select ${columns} from changes where number > $1 order by number limit $2`,
);

// From the oldest on without a gap, whatever the clocks of the replicas said: a cursor that is left has all that follows it.
const prune = statement<unknown, [before: Date]>(
  'changes.prune',
  `
  delete from changes where number < (
    select least(newest, (select number from changes where changed_at >= $1 order by number limit 1)) from change_feed)`,
);

export type ChangeStore = ReturnType<typeof createChangeStore>;

export const createChangeStore = (database: Database) => ({
  /** In a transaction, as its last statement: until it ends no other write ends. */
  async append(changes: readonly Change[]): Promise<void> {
    if (changes.length > 0) await database.run(append, changes, changes.length);
  },
  /** The cursor from which on nothing has happened yet. */
  async newest(): Promise<string> {
    const row = await database.first(newest);
    if (!row) throw new Error('the table changes is empty, and its newest row is never deleted');
    return row.id;
  },
  /** The change of a cursor and at most `limit` that follow it; undefined when there is no such cursor. */
  async from(cursor: string, limit: number): Promise<{ readonly at: ChangeRow; readonly following: readonly ChangeRow[] } | undefined> {
    const [at, ...following] = isUuid(cursor) ? await database.all(from, cursor, limit + 1) : [];
    return at && { at, following };
  },
  after: (number: number, limit: number) => database.all(after, number, limit),
  /** All that are older, but the newest one. @returns how many */
  prune: (before: Date) => database.run(prune, before),
});
