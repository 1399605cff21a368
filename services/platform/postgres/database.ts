// What a store may ask of a database, on a pool or inside a transaction alike.

/** A question in SQL with the types of its row and parameters. Each name has one text; Postgres plans it once a connection. */
export type Statement<Row, Values extends readonly unknown[]> = {
  readonly name: string;
  readonly text: string;
  /** Only for the compiler. */
  readonly types?: (values: Values) => Row;
};
export const statement = <Row, const Values extends readonly unknown[] = []>(name: string, text: string): Statement<Row, Values> => ({ name, text });

/** What knex builds: `toSQL().toNative()`. */
export type Built = { toSQL(): { toNative(): { readonly sql: string; readonly bindings: readonly unknown[] } } };

export type Database = {
  all<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row[]>;
  first<Row, Values extends readonly unknown[]>(question: Statement<Row, Values>, ...values: Values): Promise<Row | undefined>;
  /** @returns how many rows were affected */
  run<Values extends readonly unknown[]>(command: Statement<unknown, Values>, ...values: Values): Promise<number>;
  /** A query built by knex, not prepared by name. */
  select<Row>(query: Built): Promise<Row[]>;
  /** Commits when `work` ends, rolls back when it throws. */
  transaction<T>(work: (inTransaction: Database) => Promise<T>): Promise<T>;
  /** Runs `work` if nobody else holds the session lock `name`, in any process; undefined when somebody does. */
  whileLocked<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
};
