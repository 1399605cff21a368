// JSON and text that others wrote: parsing of bytes, members that may not be there, text that Postgres can store.
import { Common } from './problem.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The JSON value of raw bytes, RFC 8259: UTF-8 without a byte order mark, since a later reader of the bytes may not drop one.
 * @throws Problem 400
 */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw Common.malformed({ detail: bytes.length === 0 ? 'The body is empty.' : 'The body is not valid JSON.' });
  }
}

/** The JSON value of a text that may be none; undefined then. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [quote, backslash, comma, brace, bracket] = Buffer.from('"\\,{[');

/** How many values JSON text holds at most, by its structural characters: `{`, `[` and `,` outside of strings. A few milliseconds a MiB. */
export function countValues(bytes: Buffer): number {
  let values = 0;
  let isString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isString = !isString;
    else if (isString) at += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === brace || byte === bracket) values += 1;
  }
  return values;
}

/** A value costs up to 70 bytes once it is parsed, and a body has no more values than bytes. */
export const isCostly = (body: Buffer, maxValues: number): boolean => body.length > maxValues && countValues(body) > maxValues;

export const tooManyValues = (maxValues: number) => Common.tooLarge({ detail: `The body holds more than ${maxValues} values.` });

/** @throws Problem 413 */
export function refuseCostly(body: Buffer, maxValues: number): void {
  if (isCostly(body, maxValues)) throw tooManyValues(maxValues);
}

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path of member names; undefined where one is missing. */
export const memberAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);

/** The member names of a JSON pointer, RFC 6901. */
export const pointerPath = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Whether Postgres takes it as it is: neither text nor jsonb takes NUL, and UTF-8 has no half of a surrogate pair. */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** A name to look for: text that cannot be stored names nothing, as an empty one. */
export const named = (text = ''): string => (isStorable(text) ? text : '');

/** Each character that cannot be stored becomes U+FFFD. To ask first takes a third of the time of mending all. */
export const storable = (text: string): string => (isStorable(text) ? text : text.toWellFormed().replaceAll('\0', '\ufffd'));

// Members of JSON that others wrote. One of another kind than asked for counts as absent.

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

/** Whole numbers up to 2^53 only. */
export function integerAt(value: unknown, ...path: readonly string[]): number | undefined {
  const found = memberAt(value, ...path);
  return Number.isSafeInteger(found) ? Number(found) : undefined;
}

/** The member `id` as text, from a whole number or a text; undefined where there is none. */
export function idOf(object: unknown): string | undefined {
  const id = memberAt(object, 'id');
  return Number.isSafeInteger(id) || (typeof id === 'string' && id !== '') ? String(id) : undefined;
}

/** A time as ISO 8601 text, or as seconds since 1970; undefined for one that Postgres does not take. */
export function timeAt(value: unknown, ...path: readonly string[]): Date | undefined {
  const found = memberAt(value, ...path);
  if (typeof found !== 'string' && typeof found !== 'number') return undefined;
  return storableTime(new Date(typeof found === 'number' ? found * 1000 : found));
}

/** The years 1 to 9999, in milliseconds since 1970: JavaScript writes any other with a sign, which Postgres refuses. */
export const storableMs = { first: -62_135_596_800_000, last: 253_402_300_799_999 };
export const storableTime = (time: Date): Date | undefined => (time.getTime() >= storableMs.first && time.getTime() <= storableMs.last ? time : undefined);
