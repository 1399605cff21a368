// The columns of a typed table, read off its item: `user.login` on the wire is `user_login` in the table.
import { z } from 'zod';
import { Timestamp } from '../../platform/schema.ts';
import { memberAt, storable } from '../../platform/json.ts';
import { ProcessingState } from '../contract.ts';
import { integerAt, type JsonObject, textAt, timeAt } from '../delivery.ts';

// The kinds of members of an item. One that is not nullable is required: an object without it has no row.
export const text = z.string().nullable();
export const integer = z.int32().nullable();
export const bigInteger = z.int().nullable();
export const flag = z.boolean().nullable();
export const time = Timestamp.nullable();
export const account = z.object({ login: text }).nullable();

/** What all typed rows have on the wire; the object's own main members come after it, under the forge's names. */
export const TypedItem = z.object({
  id: z.uuid(),
  /** The forge's own id of the object; a branch's name, a push's new head. */
  forgeId: z.string(),
  /** owner/name; null where the object is in none. */
  repository: text,
  processingState: ProcessingState,
  firstSeenAt: Timestamp,
  /** The object's own time of change; where it has none, when the relay received it. */
  updatedAt: Timestamp,
  /** Set on what the forge has deleted. */
  deletedAt: time,
});
export type TypedItem = z.output<typeof TypedItem>;

type Item = { readonly shape: Readonly<Record<string, z.core.$ZodType>> };

export type Column = {
  readonly name: string;
  /** Where it is found in the forge's object. */
  readonly path: readonly string[];
  readonly type: 'text' | 'int' | 'bigint' | 'boolean' | 'timestamptz';
  readonly isRequired: boolean;
};

/** Those of the object's own members. */
export const columnsOf = (item: Item): Column[] =>
  ownMembers(item).flatMap(([member, schema]) => {
    const inner = withoutNull(schema);
    if (!(inner instanceof z.ZodObject)) return [column([member], schema)];
    return Object.entries<z.core.$ZodType>(inner.shape).map(([part, partSchema]) => column([member, part], partSchema));
  });

const ownMembers = ({ shape }: Item) => Object.entries(shape).filter(([member]) => !(member in TypedItem.shape));
const withoutNull = (schema: z.core.$ZodType) => (schema instanceof z.ZodNullable ? schema.unwrap() : schema);

function column(path: readonly string[], schema: z.core.$ZodType): Column {
  return { name: path.join('_'), path, type: typeOf(withoutNull(schema)), isRequired: !(schema instanceof z.ZodNullable) };
}

function typeOf(schema: z.core.$ZodType): Column['type'] {
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'text';
  if (schema instanceof z.ZodNumber) return schema.format === 'int32' ? 'int' : 'bigint';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodDate) return 'timestamptz';
  throw new TypeError('a member of a typed item must be a string, a number, a boolean or a time');
}

const maxInt = 2 ** 31 - 1;

const readers: Readonly<Record<Column['type'], (object: JsonObject, path: readonly string[]) => unknown>> = {
  text: (object, path) => {
    const found = textAt(object, ...path);
    return found === undefined ? undefined : storable(found);
  },
  int: (object, path) => {
    const found = integerAt(object, ...path);
    return found !== undefined && Math.abs(found) <= maxInt ? found : undefined;
  },
  bigint: (object, path) => integerAt(object, ...path),
  boolean: (object, path) => {
    const found = memberAt(object, ...path);
    return typeof found === 'boolean' ? found : undefined;
  },
  timestamptz: (object, path) => timeAt(object, ...path),
};

/** Undefined where the object has no such member, or one of another kind. */
export const readColumn = ({ type }: Column, object: JsonObject, path: readonly string[]): unknown => readers[type](object, path);

const shared = `id, forge_id as "forgeId", repository, processing_state as "processingState", first_seen_at as "firstSeenAt",
  updated_at as "updatedAt", deleted_at as "deletedAt"`;

/** For a select list; every name in it is a constant of this program. */
export const selectList = (item: Item): string => [shared, ...ownMembers(item).map(([member, schema]) => selected(member, schema))].join(', ');

function selected(member: string, schema: z.core.$ZodType): string {
  const inner = withoutNull(schema);
  if (!(inner instanceof z.ZodObject)) return `"${member}"`;
  const parts = Object.keys(inner.shape).map((part) => ({ part, name: `"${member}_${part}"` }));
  const whole = parts.map(({ part, name }) => `'${part}', ${name}`).join(', ');
  return `case when coalesce(${parts.map(({ name }) => name).join(', ')}) is not null then json_build_object(${whole}) end as "${member}"`;
}
