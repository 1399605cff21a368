// The SQL of a typed table, composed from its description: every name in it is a constant of this program.
import { type Statement, statement } from '../../platform/postgres/pool.ts';
import type { TypedTable } from './typed-table.ts';

export type TableSql = {
  readonly insertUnknown: Statement<{ key: string }, [rows: string]>;
  readonly upsertNewest: Statement<{ key: string }, [rows: string]>;
  readonly requestAgain: Statement<{ key: string }, [rows: string]>;
};

const shared = {
  id: 'uuid',
  object_key: 'text',
  forge_id: 'text',
  repository: 'text',
  processing_state: 'text',
  first_seen_at: 'timestamptz',
  run_attempt: 'int',
  updated_at: 'timestamptz',
  event_received_at: 'timestamptz',
  deleted_at: 'timestamptz',
  delivery_id: 'text',
  hook_id: 'text',
  target_id: 'text',
  rest: 'jsonb',
} as const;

/** Columns that a newer state simply takes over. */
const takenOver = ['run_attempt', 'updated_at', 'event_received_at', 'deleted_at', 'delivery_id', 'hook_id', 'target_id'];

export function tableSql({ name, columns }: TypedTable): TableSql {
  const own = Object.entries(columns);
  const types = { ...shared, ...Object.fromEntries(own.map(([column, { type }]) => [column, type])) };
  const names = Object.keys(types).join(', ');
  const rows = `select ${names} from json_to_recordset($1::json) as given(${Object.entries(types)
    .map(([column, type]) => `${column} ${type}`)
    .join(', ')})`;
  // In the order of their keys: two workers with the same objects at hand wait for each other instead of deadlocking.
  const insert = `insert into ${name} as known (${names}) ${rows} order by object_key`;
  const ownSets = own.map(([column, { isKept }]) => `${column} = ${isKept ? `coalesce(excluded.${column}, known.${column})` : `excluded.${column}`}`);

  return {
    insertUnknown: statement(`intake.${name}.insertUnknown`, `${insert} on conflict (object_key) do nothing returning object_key as key`),
    upsertNewest: statement(
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
      where (excluded.run_attempt, excluded.updated_at, excluded.event_received_at) > (known.run_attempt, known.updated_at, known.event_received_at)
      returning object_key as key`,
    ),
    requestAgain: statement(
      `intake.${name}.requestAgain`,
      `
      update ${name} set processing_state = 'RE_REQUESTED', claimed_until = null,
        delivery_id = given.delivery_id, hook_id = given.hook_id, target_id = given.target_id
      from (${rows}) as given
      where ${name}.id in (select id from ${name} where object_key in (select object_key from (${rows}) as wanted) and deleted_at is null order by object_key for update)
        and ${name}.object_key = given.object_key
      returning ${name}.object_key as key`,
    ),
  };
}
