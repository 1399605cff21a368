// The processing state of typed rows: claimed, and PROCESSED once the event log holds the event with its notifications.
import { type Database, statement, type Statement } from '../../platform/postgres/pool.ts';
import { typedTables } from './tables.ts';

type Sql = { readonly claim: Statement<{ id: string }, [limit: number, leaseMs: number]>; readonly finish: Statement<unknown, [ids: readonly string[]]> };

// A row whose event the forge worker has not stored yet stays as it is, and comes round again; so does a claim whose
// holder died. A row that changes while it is claimed turns UPDATED, and the finish passes it by.
const sqlOf = (name: string): Sql => ({
  claim: statement(
    `intake.${name}.claim`,
    `
    update ${name} set processing_state = 'PROCESSING', claimed_until = now() + $2 * interval '1 millisecond'
    where id in (
      select typed.id from ${name} typed
      join delivery_keys key on key.delivery_id = typed.delivery_id and key.hook_id = typed.hook_id and key.target_id = typed.target_id and key.source = 'forge'
      where typed.processing_state <> 'PROCESSED' and (typed.processing_state <> 'PROCESSING' or typed.claimed_until < now())
      limit $1 for update of typed skip locked)
    returning id`,
  ),
  finish: statement(
    `intake.${name}.finish`,
    `
    update ${name} set processing_state = 'PROCESSED', claimed_until = null where id = any($1::uuid[]) and processing_state = 'PROCESSING'`,
  ),
});

const all = typedTables.map(({ name }) => sqlOf(name));
const limit = 500;
const leaseMs = 60_000;

/** One pass over every table. @returns whether there may be more to do at once */
export async function processRows(database: Database): Promise<boolean> {
  let isMore = false;
  for (const { claim, finish } of all) {
    const claimed = await database.all(claim, limit, leaseMs);
    if (claimed.length > 0)
      await database.run(
        finish,
        claimed.map(({ id }) => id),
      );
    isMore ||= claimed.length === limit;
  }
  return isMore;
}
