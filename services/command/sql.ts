// `signalbox sql`: one statement on the database of a service, by its own role, in whatever Postgres it is.
import { type Environment, readSettings } from '../platform/config/config.ts';
import { commonSettings } from '../platform/config/settings.ts';
import { codeOf, describeError } from '../platform/errors.ts';
import { silentLog } from '../platform/log.ts';
import { describeDatabaseFault } from '../platform/postgres/errors.ts';
import { createPool } from '../platform/postgres/pool.ts';
import { execute, type Result, type Row } from '../platform/postgres/typed-statement.ts';
import { tableOf } from '../platform/process/table.ts';
import { withTimeout } from '../platform/time.ts';
import { numberText } from './figures.ts';

type SqlCommand = { readonly environment: Environment; readonly print: (text: string) => void; readonly json: boolean; readonly isWrite: boolean };

const statementMs = 60_000;
/** A longer cell is cut in the table, not in JSON. */
const widestCell = 60;
/** The table needs all its rows at once, in the memory of a service's container. */
export const mostRows = 1000;

/** By SQLSTATE. */
const remedies: ReadonlyMap<string, string> = new Map([
  ['25006', 'give --write to allow it'],
  ['42P01', 'name its schema, too, as "select schemaname, tablename from pg_tables" lists them'],
]);

/** @throws Error in words when the database cannot be asked, or refuses the statement */
export async function sql(text: string, { environment, print, json, isWrite }: SqlCommand): Promise<void> {
  const { databaseUrl } = readSettings(environment, { databaseUrl: commonSettings.databaseUrl });
  // Without `answerMs`: with it node-postgres keeps every row.
  const database = createPool(databaseUrl.reveal(), { schema: 'public', log: silentLog, maxConnections: 1, statementMs });
  const shown: Row[] = [];
  const take = (row: Row) => {
    if (json) print(`${JSON.stringify(row)}\n`);
    else if (shown.length < mostRows) shown.push(row);
  };
  try {
    const result = await withTimeout(execute(database, { text, isWrite, take }), statementMs + 5000, () => {
      throw new Error(`the database does not answer within ${statementMs / 1000 + 5} s`);
    });
    if (!result.command) throw new Error('the statement is empty');
    if (!json) print(textOfResult(result, shown, isWrite ? 'rows changed' : 'rows'));
  } catch (error) {
    const remedy = remedies.get(codeOf(error) ?? '');
    throw new Error(describeDatabaseFault(error, 'DATABASE_URL') ?? [describeError(error), remedy].filter(Boolean).join('; '), { cause: error });
  } finally {
    await database.close();
  }
}

function textOfResult({ fields, rowCount }: Result, shown: readonly Row[], counted: string): string {
  if (fields.length === 0) return rowCount === null ? 'done\n' : `${counted}: ${numberText(rowCount)}\n`;
  const [first] = shown;
  if (!first) return 'no rows\n';
  const more = (rowCount ?? 0) - shown.length;
  const table = tableOf(
    Object.keys(first),
    shown.map((row) => Object.values(row).map(cellOf)),
  );
  return more > 0 ? `${table}and ${numberText(more)} more\n` : table;
}

function cellOf(value: unknown): string {
  // A statement of pg_stat_activity has lines.
  const text = textOf(value)
    .replace(/\s+/g, (space) => (/[\n\r\t]/.test(space) ? ' ' : space))
    .trim();
  return text.length > widestCell ? `${text.slice(0, widestCell - 1)}…` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (value instanceof Buffer) return `\\x${value.toString('hex', 0, widestCell)}`; // as psql does
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}
