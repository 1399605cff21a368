// `signalbox sql`: one statement on the database of a service, by its own role, in whatever Postgres it is.
import { type Environment, readSettings } from '../platform/config/config.ts';
import { commonSettings } from '../platform/config/settings.ts';
import { codeOf, describeError } from '../platform/errors.ts';
import { silentLog } from '../platform/log.ts';
import { describeDatabaseFault } from '../platform/postgres/errors.ts';
import { createPool, statement } from '../platform/postgres/pool.ts';
import { tableOf } from '../platform/process/table.ts';

type SqlCommand = { readonly environment: Environment; readonly print: (text: string) => void; readonly json: boolean; readonly isWrite: boolean };

const statementMs = 60_000;
/** A longer cell is cut in the table, not in JSON. */
const widestCell = 60;

const readOnly = statement('sql.readOnly', 'set transaction read only');

/** @throws Error in words when the database cannot be asked, or refuses the statement */
export async function sql(text: string, { environment, print, json, isWrite }: SqlCommand): Promise<void> {
  const { databaseUrl } = readSettings(environment, { databaseUrl: commonSettings.databaseUrl });
  const database = createPool(databaseUrl.reveal(), { schema: 'public', log: silentLog, maxConnections: 1, statementMs, answerMs: statementMs + 5000 });
  try {
    // A named statement is one statement: a second one could end the transaction that only reads.
    const rows = await database.transaction(async (inTransaction) => {
      if (!isWrite) await inTransaction.run(readOnly);
      return inTransaction.all(statement<Readonly<Record<string, unknown>>>('command.sql', text));
    });
    if (json) for (const row of rows) print(`${JSON.stringify(row)}\n`);
    else
      print(
        rows.length === 0
          ? 'no rows\n'
          : tableOf(
              Object.keys(rows[0] ?? {}),
              rows.map((row) => Object.values(row).map(cellOf)),
            ),
      );
  } catch (error) {
    const isReadOnly = codeOf(error) === '25006';
    throw new Error(describeDatabaseFault(error, 'DATABASE_URL') ?? `${describeError(error)}${isReadOnly ? '; give --write to allow it' : ''}`, {
      cause: error,
    });
  } finally {
    await database.close();
  }
}

function cellOf(value: unknown): string {
  const text = textOf(value);
  return text.length > widestCell ? `${text.slice(0, widestCell - 1)}…` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}
