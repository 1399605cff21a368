// JSON of unknown shape: parsing of bytes, and a look at members that may not be there.
import { Common } from './problem.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The JSON value of raw bytes, RFC 8259: UTF-8 without a byte order mark, since whoever reads the bytes later may not drop one.
 * @throws Problem 400
 */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw Common.malformed({ detail: 'The body is not valid JSON.' });
  }
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** What stands at a path of member names; undefined where one is missing. */
export const memberAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), value);
