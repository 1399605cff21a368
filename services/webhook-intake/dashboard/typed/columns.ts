// The columns of a typed table, read off its item: `user.login` on the wire is `user_login` in the table.
import { z } from 'zod';
import { TypedItem } from './items.ts';

const shared = `id, forge_id as "forgeId", repository, processing_state as "processingState", first_seen_at as "firstSeenAt",
  updated_at as "updatedAt", deleted_at as "deletedAt"`;

/** For a select list; every name in it is a constant of this program. */
export function columnsOf({ shape }: { readonly shape: Readonly<Record<string, z.core.$ZodType>> }): string {
  const own = Object.entries(shape).filter(([member]) => !(member in TypedItem.shape));
  return [shared, ...own.map(([member, schema]) => column(member, schema))].join(', ');
}

function column(member: string, schema: z.core.$ZodType): string {
  const inner = schema instanceof z.ZodNullable ? schema.unwrap() : schema;
  if (!(inner instanceof z.ZodObject)) return `"${member}"`;
  const parts = Object.keys(inner.shape).map((part) => ({ part, name: `"${member}_${part}"` }));
  const whole = parts.map(({ part, name }) => `'${part}', ${name}`).join(', ');
  return `case when coalesce(${parts.map(({ name }) => name).join(', ')}) is not null then json_build_object(${whole}) end as "${member}"`;
}
