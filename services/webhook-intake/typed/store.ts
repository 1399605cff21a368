// All writing of typed rows: changes as rows of their table, and the processing state of rows.
import { v7 as uuidv7 } from 'uuid';
import { isObject, type JsonObject, storable } from '../../platform/json.ts';
import { type Database, statement, type Statement } from '../../platform/postgres/pool.ts';
import { allTables } from './tables.ts';
import { type Change, type Column, columnsOf, type ForgeEvent, readColumn, type TypedTable } from './typed-table.ts';

type EventChange = { readonly event: ForgeEvent; readonly change: Change };

export function createTableWriter(table: TypedTable) {
  const columns = columnsOf(table);
  const sql = writingSql(table, columns);
  const value = (column: Column, object: JsonObject) => {
    const alternative = table.alternatives?.[column.name];
    return readColumn(column.schema, object, column.path) ?? (alternative && readColumn(column.schema, object, alternative));
  };
  const isComplete = (object: JsonObject) => columns.every((column) => !column.isRequired || value(column, object) !== undefined);

  function toRows(changes: readonly EventChange[]): string {
    const rows = changes.map(({ event, change }) => ({
      id: uuidv7(),
      object_key: storable(change.key),
      forge_id: storable(change.forgeId),
      repository: 'repository' in table.filters ? event.repository : null,
      processing_state: change.isRequested ? 'RE_REQUESTED' : 'NEW',
      first_seen_at: event.receivedAt,
      run_attempt: change.runAttempt,
      updated_at: change.updatedAt,
      event_received_at: event.receivedAt,
      deleted_at: change.isDeleted ? event.receivedAt : null,
      delivery_id: event.deliveryId,
      hook_id: event.hookId,
      target_id: event.targetId,
      ...Object.fromEntries(columns.map((column) => [column.name, value(column, change.object)])),
      rest: restOf(columns, change.object),
    }));
    return storableJson(rows);
  }

  return {
    table,
    /** @returns how many objects were left out, as they lack a member that their row needs */
    async write(database: Database, changes: readonly EventChange[]): Promise<number> {
      const complete = changes.filter(({ change }) => change.kind === 'requested' || isComplete(change.object));
      for (const kind of ['unknown', 'newest', 'requested'] as const) {
        const all = rounds(complete.filter(({ change }) => change.kind === kind));
        // What is inserted when it is not known yet is known from then on.
        for (const round of kind === 'unknown' ? all.slice(0, 1) : all) await database.run(sql[kind], toRows(round));
      }
      return changes.length - complete.length;
    },
  };
}

/** One statement cannot change a row twice, so the first mention of each object is in the first round, the second in the second. */
function rounds(changes: readonly EventChange[]): EventChange[][] {
  // As it is stored: two names may become the same.
  const objects = [...Map.groupBy(changes, ({ change }) => storable(change.key)).values()];
  const most = Math.max(0, ...objects.map((mentions) => mentions.length));
  return Array.from({ length: most }, (_, round) => objects.flatMap((mentions) => mentions[round] ?? []));
}

/** The members that no column holds whole. */
function restOf(columns: readonly Column[], object: JsonObject): JsonObject {
  const held = new Set(columns.flatMap(({ path }) => (path.length === 1 ? path : [])));
  return Object.fromEntries(Object.entries(object).filter(([name]) => !held.has(name)));
}

/** A whole value as JSON text for a jsonb column. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Most values hold neither, and are spared a second walk.
  if (!/\\u(0000|d[89a-f])/.test(json)) return json;
  return JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member === 'string') return storable(member);
    return isObject(member) ? Object.fromEntries(Object.entries(member).map(([name, inner]) => [storable(name), inner])) : member;
  });
}

/** Columns that a newer state simply takes over. */
const takenOver = ['run_attempt', 'updated_at', 'event_received_at', 'deleted_at', 'delivery_id', 'hook_id', 'target_id'];
/** Of every typed table. */
const shared = ['id', 'object_key', 'forge_id', 'repository', 'processing_state', 'first_seen_at', 'rest', ...takenOver];

/** By the kind of change. */
type Writing = Readonly<Record<Change['kind'], Statement<unknown, [rows: string]>>>;

/** Composed from the table's description: every name in it is a constant of this program. */
function writingSql({ name, kept = [] }: TypedTable, own: readonly Column[]): Writing {
  const names = [...shared, ...own.map((column) => column.name)].join(', ');
  const rows = `json_populate_recordset(null::${name}, $1::json)`;
  // In the order of their keys: two workers with the same objects at hand wait for each other instead of deadlocking.
  const insert = `insert into ${name} as known (${names}) select ${names} from ${rows} order by object_key`;
  const ownSets = own.map(
    ({ name: column }) => `${column} = ${kept.includes(column) ? `coalesce(excluded.${column}, known.${column})` : `excluded.${column}`}`,
  );

  return {
    unknown: statement(`intake.${name}.insertUnknown`, `${insert} on conflict (object_key) do nothing`),
    newest: statement(
      `intake.${name}.upsertNewest`,
      `${insert}
      on conflict (object_key) do update set
        ${[...takenOver.map((column) => `${column} = excluded.${column}`), ...ownSets].join(', ')},
        repository = coalesce(excluded.repository, known.repository),
        rest = known.rest || excluded.rest,
        first_seen_at = least(known.first_seen_at, excluded.first_seen_at),
        claimed_until = null,
        processing_state = case
          when excluded.processing_state = 'RE_REQUESTED' or excluded.run_attempt > known.run_attempt then 'RE_REQUESTED'
          when known.processing_state in ('NEW', 'RE_REQUESTED') then known.processing_state
          else 'UPDATED' end
      where (excluded.run_attempt, excluded.updated_at, excluded.event_received_at) > (known.run_attempt, known.updated_at, known.event_received_at)`,
    ),
    requested: statement(
      `intake.${name}.requestAgain`,
      `
      update ${name} set processing_state = 'RE_REQUESTED', claimed_until = null,
        delivery_id = given.delivery_id, hook_id = given.hook_id, target_id = given.target_id
      from ${rows} as given
      where ${name}.id in (select id from ${name} where object_key in (select object_key from ${rows} as wanted) and deleted_at is null order by object_key for update)
        and ${name}.object_key = given.object_key`,
    ),
  };
}

// A row whose event the service worker has not stored yet stays as it is, and comes round again; so does a claim whose
// holder died. A row that changes while it is claimed turns UPDATED, and the finish passes it by.
const processing = allTables.map(({ name }) => ({
  claim: statement<{ id: string }, [limit: number, leaseMs: number]>(
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
  finish: statement<unknown, [ids: readonly string[]]>(
    `intake.${name}.finish`,
    `
    update ${name} set processing_state = 'PROCESSED', claimed_until = null where id = any($1::uuid[]) and processing_state = 'PROCESSING'`,
  ),
}));

const limit = 500;
const leaseMs = 60_000;

/** Rows become PROCESSED once the event log holds their event: one pass over every table. @returns whether there may be more to do at once */
export async function processRows(database: Database): Promise<boolean> {
  let isMore = false;
  for (const { claim, finish } of processing) {
    const ids = (await database.all(claim, limit, leaseMs)).map(({ id }) => id);
    if (ids.length > 0) await database.run(finish, ids);
    isMore ||= ids.length === limit;
  }
  return isMore;
}
