// The columns of a typed table as data: where each is found in the forge's object, and what it may hold.
import { memberAt } from '../../platform/json.ts';
import { storable } from '../../platform/text.ts';
import { integerAt, type JsonObject, textAt, timeAt } from '../json.ts';

export type Column = {
  readonly type: 'text' | 'int' | 'bigint' | 'boolean' | 'timestamptz';
  readonly path: readonly string[];
  /** Undefined where the object has no such member, or one of another kind. */
  readonly read: (object: JsonObject) => unknown;
  /** Not every event of the object carries it: an event without it leaves it as it is. */
  readonly isKept: boolean;
};
export type Columns = Readonly<Record<string, Column>>;

const maxInt = 2 ** 31 - 1;

function column(type: Column['type'], path: readonly string[], read: Column['read']): Column {
  return { type, path, read, isKept: false };
}

const within = (value: number | undefined, most: number) => (value !== undefined && Math.abs(value) <= most ? value : undefined);

export const text = (...path: readonly string[]): Column =>
  column('text', path, (object) => {
    const found = textAt(object, ...path);
    return found === undefined ? undefined : storable(found);
  });
export const int = (...path: readonly string[]): Column => column('int', path, (object) => within(integerAt(object, ...path), maxInt));
export const bigint = (...path: readonly string[]): Column => column('bigint', path, (object) => integerAt(object, ...path));
export const time = (...path: readonly string[]): Column => column('timestamptz', path, (object) => timeAt(object, ...path));
export const flag = (...path: readonly string[]): Column =>
  column('boolean', path, (object) => {
    const found = memberAt(object, ...path);
    return typeof found === 'boolean' ? found : undefined;
  });
export const kept = (inner: Column): Column => ({ ...inner, isKept: true });

/** The first that the object has: some members are named differently from event to event. */
export function either(first: Column, second: Column): Column {
  return { ...first, read: (object) => first.read(object) ?? second.read(object) };
}

export function readColumns(columns: Columns, object: JsonObject): Record<string, unknown> {
  return Object.fromEntries(Object.entries(columns).map(([name, { read }]) => [name, read(object)]));
}

/** The members that no column holds whole. */
export function restOf(columns: Columns, object: JsonObject): JsonObject {
  const held = new Set(Object.values(columns).flatMap(({ path }) => (path.length === 1 ? path : [])));
  return Object.fromEntries(Object.entries(object).filter(([name]) => !held.has(name)));
}
