// The faults of a value in words: the `errors` of a problem document, or of one item among many.
import type { z } from 'zod';
import { isWrongType } from './schema.ts';

/** Member name to messages: `routingKeys[0]`, `[2].expiresAt`. A map, as callers name them, and `__proto__` must be a name like any other. */
export type Faults = Map<string, string[]>;
/** The key for faults of the whole value, and its place. */
export type Place = { readonly root: string; readonly faults: Faults };

/** A body of 1 MiB can have half a million faults: more than these are of no use. */
const maxFaults = 1000;

/** A value as its schema reads it; undefined when it does not, and the reasons are added to the faults. */
export function parseInto<S extends z.ZodType>(schema: S, value: unknown, { root, faults }: Place): z.output<S> | undefined {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  for (const issue of result.error.issues.slice(0, maxFaults)) {
    const name = memberName(issue.path) || root;
    faults.set(name, [...(faults.get(name) ?? []), wording(issue)]);
  }
  return undefined;
}

const memberName = (path: readonly PropertyKey[]) =>
  path.reduce<string>((name, part) => (typeof part === 'number' ? `${name}[${part}]` : `${name}${name && '.'}${String(part)}`), '');

// zod tells an absent member as a wrong type, which is not how people speak of it.
function wording({ code, path, input, message }: z.core.$ZodIssue): string {
  const isAbsent = path.length > 0 && input === undefined;
  if (isAbsent && (code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union')) return 'is required';
  const came = kindOf(input);
  return code === 'invalid_type' && isWrongType(message) && !message.endsWith(came.replace(/^an? /, '')) ? `${message}, not ${came}` : message;
}

/** The type of the value, and never the value itself, which may be secret. */
function kindOf(input: unknown): string {
  if (input === null || input === undefined) return 'null';
  if (Array.isArray(input)) return 'an array';
  return typeof input === 'object' ? 'an object' : `a ${typeof input}`;
}
