// The columns of a typed table, read off its item: `user.login` on the wire is `user_login` in the table.
import { z } from 'zod';
import { Timestamp } from '../../platform/schema.ts';
import { memberAt, storable } from '../../platform/json.ts';
import { ProcessingState } from '../contract.ts';
import { type JsonObject, timeAt } from '../delivery.ts';

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
  /** Without null. */
  readonly schema: z.core.$ZodType;
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
  return { name: path.join('_'), path, schema: withoutNull(schema), isRequired: !(schema instanceof z.ZodNullable) };
}

/** Undefined where the object has no such member, or one of another kind. An empty text is none. */
export function readColumn(schema: z.core.$ZodType, object: JsonObject, path: readonly string[]): unknown {
  if (schema instanceof z.ZodDate) return timeAt(object, ...path);
  const member = memberAt(object, ...path);
  if (member === null || member === undefined) return undefined; // as most that are missing: a refusal by the schema costs more
  const { data } = z.safeParse(schema, member);
  return typeof data === 'string' ? storable(data) || undefined : data;
}

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
