// Reads members of payloads: what a forge sends is its own affair, so a member of another kind counts as absent.
import { isObject, memberAt } from '../platform/json.ts';
import { storable } from '../platform/text.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectAt(value: unknown, ...path: readonly string[]): JsonObject | undefined {
  const found = memberAt(value, ...path);
  return isObject(found) ? found : undefined;
}

/** Undefined for an empty text too. */
export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = memberAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** Whole numbers only; ids of the forge are below 2^53. */
export function integerAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = memberAt(value, ...path);
  return Number.isSafeInteger(found) ? Number(found) : undefined;
}

/** The forge's own id of an object, as text; undefined where there is none. */
export function idOf(object: unknown): string | undefined {
  const id = memberAt(object, 'id');
  return Number.isSafeInteger(id) || (typeof id === 'string' && id !== '') ? String(id) : undefined;
}

/** A time of the forge: ISO 8601, or seconds since 1970 as some of its objects have it. */
export function timeAt(value: unknown, ...path: readonly string[]): Date | undefined {
  const found = memberAt(value, ...path);
  if (typeof found !== 'string' && typeof found !== 'number') return undefined;
  const time = new Date(typeof found === 'number' ? found * 1000 : found);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** The same for a whole value, as JSON text for a jsonb column. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Most values hold neither, and are spared a second walk.
  if (!/\\u(0000|d[89a-f])/.test(json)) return json;
  return JSON.stringify(cleaned(JSON.parse(json)));
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return storable(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [storable(name), cleaned(member)]));
}
