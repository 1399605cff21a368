// Statements over many rows at once: the SQL and the values of a batch come from one list of columns, complete against the row's type.
import type { Statement } from './pool.ts';

/** The types that a member may have in Postgres, by its type here. */
type PostgresType<Value> = unknown extends Value
  ? string
  : [Value] extends [string | null | undefined]
    ? 'text' | 'uuid' | 'numeric' | 'bigint' | 'date' | 'timestamptz' | 'json' | 'jsonb' | 'inet'
    : [Value] extends [number | null | undefined]
      ? 'int' | 'bigint' | 'smallint' | 'numeric' | 'float8'
      : [Value] extends [boolean | null | undefined]
        ? 'boolean'
        : [Value] extends [Date | null | undefined]
          ? 'timestamptz' | 'date'
          : [Value] extends [Date | string | null | undefined]
            ? 'timestamptz' | 'date'
            : [Value] extends [Uint8Array | null | undefined]
              ? 'bytea'
              : [Value] extends [readonly string[] | null | undefined]
                ? 'text[]' | 'uuid[]' | 'json' | 'jsonb'
                : 'json' | 'jsonb';

/**
 * The column of each member of a row: its type in Postgres (`receivedAt: 'timestamptz'` is the column `received_at`), or
 * its name and type where the name differs (`score: 'priority_score numeric'`). A member that is written nowhere is `'omitted'`.
 */
export type RowColumns<Row> = {
  readonly [Member in keyof Row]-?: PostgresType<Row[Member]> | `${string} ${PostgresType<Row[Member]>}` | 'omitted';
};

type Column = { readonly member: string; readonly name: string; readonly type: string };

const toSnakeCase = (member: string) => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function columnsOf<Row>(columns: RowColumns<Row>): Column[] {
  return Object.entries<string>(columns).flatMap(([member, spec]) => {
    if (spec === 'omitted') return [];
    const [first = '', second] = spec.split(' ');
    return [second === undefined ? { member, name: toSnakeCase(member), type: first } : { member, name: first, type: second }];
  });
}

/** The names of the columns, for a list in SQL. */
export const namesOf = <Row>(columns: RowColumns<Row>): string =>
  columnsOf(columns)
    .map(({ name }) => name)
    .join(', ');

/** The columns under the names of their members, for `select` and `returning`. */
export const asMembers = <Row>(columns: RowColumns<Row>): string =>
  columnsOf(columns)
    .map(({ member, name }) => (name === member ? name : `${name} as "${member}"`))
    .join(', ');

/** `a = excluded.a, …` of every column but those of `except`, for `on conflict … do update set`. */
export const setExcluded = <Row>(columns: RowColumns<Row>, except: readonly (keyof Row & string)[] = []): string =>
  columnsOf(columns)
    .filter(({ member }) => !except.some((name) => name === member))
    .map(({ name }) => `${name} = excluded.${name}`)
    .join(', ');

/** Each parameter of a statement: the columns of its rows, or the type of a single value. */
type Parameters<Values extends readonly unknown[]> = {
  readonly [Index in keyof Values]: Values[Index] extends readonly (infer Row extends object)[] ? RowColumns<Row> : string;
};
/** The SQL in place of each parameter. */
type Placeholders<Values extends readonly unknown[]> = { readonly [Index in keyof Values]: string };

/** An element of an array parameter is text, and `unnest` would flatten an array, so an array travels as its literal. */
const arrayLiteral = (values: readonly string[]) => `{${values.map((value) => `"${value.replaceAll(/[\\"]/g, String.raw`\$&`)}"`).join(',')}}`;

function encoderOf(type: string): ((value: unknown) => unknown) | undefined {
  if (type.endsWith('[]')) return (value) => (Array.isArray(value) ? arrayLiteral(value as string[]) : null); // `RowColumns` allows arrays of texts only
  if (type.startsWith('json')) return (value) => (value === null || value === undefined || typeof value === 'string' ? value : JSON.stringify(value));
  return undefined;
}

/** @returns a row source of `columns` whose first parameter is `$from + 1`, and what turns rows into its parameters */
function rowSource(columns: readonly Column[], from: number) {
  const arrays = columns.map(({ type }, index) => `$${from + index + 1}::${type.endsWith('[]') ? 'text' : type}[]`).join(', ');
  const names = columns.map(({ name }) => name).join(', ');
  const unnested = `unnest(${arrays}) with ordinality as given (${names}, ordinal)`;
  const selected = columns.map(({ name, type }) => (type.endsWith('[]') ? `${name}::${type}` : name)).join(', ');
  const encoders = columns.map(({ type }) => encoderOf(type));
  return {
    sql: `(select ${selected}, ordinal from ${unnested})`,
    encode: (rows: readonly Readonly<Record<string, unknown>>[]) =>
      columns.map(({ member }, index) => {
        const encode = encoders[index];
        return encode ? rows.map((row) => encode(row[member])) : rows.map((row) => row[member]);
      }),
  };
}

/**
 * A statement whose parameters are rows or single values: `text` gets the SQL in place of each, a parenthesised
 * query with the columns and `ordinal` (from 1) for rows, a typed parameter for a value.
 * Arrays, since Postgres takes a third more time for the same rows as one JSON text.
 */
export function rowsStatement<Row, const Values extends readonly unknown[]>(
  name: string,
  parameters: Parameters<Values>,
  text: (...placeholders: Placeholders<Values>) => string,
): Statement<Row, Values> {
  const list: readonly (string | RowColumns<object>)[] = parameters;
  let count = 0;
  const sources = list.map((parameter) => {
    if (typeof parameter === 'string') return { sql: `$${++count}::${parameter}`, encode: (value: unknown) => [value] };
    const columns = columnsOf(parameter);
    const source = rowSource(columns, count);
    count += columns.length;
    return source;
  });
  const encode = (values: Values) => sources.flatMap((source, index) => source.encode(values[index] as never)); // `Parameters` pairs them
  return { name, text: text(...(sources.map(({ sql }) => sql) as unknown as Placeholders<Values>)), encode };
}

type Insert<Row> = {
  readonly into: string;
  readonly columns: RowColumns<Row>;
  /** SQL for a column in place of its member (`left(application, 200)`), and for further columns (`'inbox'`, `now()`). */
  readonly expressions?: Readonly<Record<string, string>>;
  /** Two transactions that insert the same rows in one order wait for each other instead of deadlocking. */
  readonly orderBy?: string;
  /** The text after `on conflict`. */
  readonly onConflict?: string;
  readonly returning?: string;
};

/** `insert into … select` over a batch of rows: `database.run(statement, rows)`. */
export function insertRows<Row extends object, Returned = unknown>(name: string, insert: Insert<Row>): Statement<Returned, [rows: readonly Row[]]> {
  const { into, columns, expressions = {}, orderBy, onConflict, returning } = insert;
  const names = [...new Set([...columnsOf(columns).map((column) => column.name), ...Object.keys(expressions)])];
  const selected = names.map((column) => expressions[column] ?? column);
  const parameters: readonly [RowColumns<Row>] = [columns];
  return rowsStatement<Returned, [rows: readonly Row[]]>(name, parameters, (given) =>
    [
      `insert into ${into} (${names.join(', ')}) select ${selected.join(', ')} from ${given} as given`,
      ...(orderBy === undefined ? [] : [`order by ${orderBy}`]),
      ...(onConflict === undefined ? [] : [`on conflict ${onConflict}`]),
      ...(returning === undefined ? [] : [`returning ${returning}`]),
    ].join('\n'),
  );
}
