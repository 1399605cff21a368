// Fills the tables of the dashboard with rows of which each value that can be filtered by is frequent, rare, or frequent in the past alone.
import { makePartitions } from '../../../../services/platform/postgres/partitions.ts';
import { processingStates } from '../../../../services/webhook-intake/contract.ts';
import { allTables } from '../../../../services/webhook-intake/typed/tables.ts';
import { columnsOf, commentKinds, type TypedTable } from '../../../../services/webhook-intake/typed/typed-table.ts';
import type { IntakeDatabase } from '../intake-database.ts';

/** The rows of every text: half of them, the older ones; a quarter each, among the newer ones; a hundred; none. */
export const texts = { past: 'a/past', common: 'a/common', other: 'a/other', rare: 'a/rare', absent: 'a/absent' } as const;
export const firstDay = new Date('2026-01-01T00:00:00Z');
export const days = 170;
/** The numbers of pull requests in the repository of the past. */
export const numbers = 4;

/** The kinds of events in a bucket. */
const kinds = 8;

type Values = { readonly past: string; readonly common: string; readonly other: string; readonly rare: string };

/** The values of columns that are not free. */
const choices: Readonly<Record<string, Values>> = {
  state: { past: 'closed', common: 'closed', other: 'closed', rare: 'open' },
  sender_class: { past: 'person', common: 'bot', other: 'bot', rare: 'owner' },
  outbox_state: { past: 'sent', common: 'sent', other: 'sent', rare: 'failed' },
  kind: { past: commentKinds[1], common: commentKinds[2], other: commentKinds[2], rare: commentKinds[0] },
  processing_state: { past: processingStates[4], common: processingStates[2], other: processingStates[2], rare: processingStates[0] },
};

export async function fill(intake: IntakeDatabase, rows: number): Promise<void> {
  const row = rowsOf(rows);
  // Beside other work a hundred thousand rows take longer than a question may.
  const insert = (sql: string) => intake.rows(`set local statement_timeout = 0; ${sql}`);
  await makePartitions(intake.pool, 'events', { from: firstDay, ahead: 5 });
  const filters = ['source', 'forge', 'event', 'repository', 'sender', 'delivery_id', 'action', 'sender_class'];
  await insert(`
    insert into events (id, position, title, hook_id, target_id, score, is_core_function, bytes, received_at, stored_at, headers, number, ${filters.join(', ')})
    select gen_random_uuid(), n, 'Title ' || n, '1', '2', n % 10 + 1, true, 100, ${row.time}, now(), '{}', n % ${numbers} + 1, ${filters.map(row.value).join(', ')} from ${row.all}`);
  await insert(`
    insert into statistics_buckets (bucket_start, source, event, received, bytes)
    select date_bin('6 hours', ${row.end}, '2000-01-01Z') - n / ${kinds} * interval '6 hours', ${row.value('source', 0)}, 'e' || n % ${kinds}, 1, 1 from ${row.all}`);
  await insert(`
    insert into statistics_hours (hour_start, source, event, received, bytes)
    select date_trunc('hour', ${row.end}) - n / ${kinds} * interval '1 hour', ${row.value('source', 0)}, 'e' || n % ${kinds}, 1, 1 from ${row.all}`);
  await insert(`
    insert into outbox_messages (id, channel, recipient, state, due_at, created_at)
    select gen_random_uuid(), ${row.value('channel', 1)}, 'ada', ${row.value('outbox_state', 2)}, ${row.time}, ${row.time} from ${row.all}`);
  await insert(`
    insert into worker_runs (id, worker, status, started_at, finished_at, processed, failed)
    select gen_random_uuid(), 'cleanup', 'succeeded', ${row.time}, ${row.time}, 1, 0 from ${row.all}`);
  for (const table of allTables) await insert(typedRows(table, row));
  await vacuum(intake);
}

/** In no transaction, as a vacuum has to be, so its connection is without the limit. */
async function vacuum({ pool }: IntakeDatabase): Promise<void> {
  const client = await pool.driver.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('vacuum analyze');
  } finally {
    client.release(true);
  }
}

type RowsOf = ReturnType<typeof rowsOf>;

function rowsOf(rows: number) {
  const end = `timestamptz '${firstDay.toISOString()}' + interval '${days} days'`;
  return {
    all: `generate_series(1, ${rows}) n`,
    end,
    time: `date_trunc('milliseconds', timestamptz '${firstDay.toISOString()}' + n * interval '${(days * 86_400) / rows} seconds')`,
    /** Each column has its own pattern, so that values of two meet in some rows, never, or always. */
    value(column: string, pattern: number): string {
      const { past, common, other, rare } = choices[column] ?? texts;
      return `case when n % ${Math.floor(rows / 100)} = ${pattern} then '${rare}' when n <= ${rows / 2} then '${past}' when n >> ${pattern} & 1 = 1 then '${common}' else '${other}' end`;
    },
    /** Nearly all rows of the past: the others are so far apart that a page of both filters is short. */
    isDeleted: `n <= ${rows / 2} and n % 50 <> 3 or n % ${Math.floor(rows / 100)} = 7`,
  };
}

function typedRows(table: TypedTable, row: RowsOf): string {
  const filtered = Object.values(table.filters);
  const own = columnsOf(table).filter(({ isRequired, name }) => isRequired && !filtered.includes(name));
  const values = {
    id: 'gen_random_uuid()',
    object_key: 'n::text',
    forge_id: 'n::text',
    first_seen_at: row.time,
    updated_at: row.time,
    event_received_at: row.time,
    version: 'n::text',
    delivery_id: 'n::text',
    hook_id: `'1'`,
    target_id: `'2'`,
    rest: `'{}'::jsonb`,
    ...Object.fromEntries(own.map(({ name }) => [name, name === 'number' ? 'n' : `'x'`])),
    ...Object.fromEntries(
      filtered.map((column, pattern) => [column, column === 'deleted_at' ? `case when ${row.isDeleted} then now() end` : row.value(column, pattern)]),
    ),
  };
  return `insert into ${table.name} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')} from ${row.all}`;
}
