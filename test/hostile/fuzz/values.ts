// Values for a JSON schema as API descriptions have them, and the odd values that mutations put in their place.
import fc from 'fast-check';
import { z } from 'zod';
import { examples } from '../../services/webhook-intake/deliveries.ts';
import type { JsonSchema } from '../operations.ts';

/** Few, so that requests meet what others have made. */
const names = ['shop', 'Shop', 'main', 'local', 'Local', 'LOCAL', 'db password', 'Logging:Level', 'PATH', 'a/b', 'ü', '1', 'octocat', 'Codertocat/Hello-World'];

/** A placeholder: the sender replaces it by a text of an earlier answer of the same service, such as an id or a cursor. */
export const recalled = (number: number): string => `{recall-${number}}`;
export const recallPattern = /\{recall-(\d+)\}/g;

const oddTexts = [
  '',
  '\0',
  '\ud800',
  '\ufeff',
  '../..',
  '%',
  '%00',
  "' or 1=1 --",
  '\r\nX: y',
  '\u001b[31m',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  'ü'.repeat(5000),
  '🔑',
  '9999999999999999999999',
  '2026-02-30T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '-000001-01-01T00:00:00Z',
  'NaN',
];

const deep = (depth: number): unknown => (depth === 0 ? [] : [deep(depth - 1)]);

/** Values that no schema expects. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.constantFrom<unknown>(null, true, 0, -1, 2 ** 31, 2 ** 53, 1e308, -0.5, [], {}, [[]], { a: { b: null } }, deep(500), ['x'], { length: -1 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.json().map((text): unknown => JSON.parse(text)),
);

export const oddText = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'binary', maxLength: 40 }));

const Schema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.looseObject({})).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  items: z.looseObject({}).optional(),
  maxItems: z.number().optional(),
  properties: z.record(z.string(), z.looseObject({})).optional(),
  required: z.array(z.string()).default([]),
});

const anyText = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names) },
  { weight: 3, arbitrary: fc.nat(199).map(recalled) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
);

function textOf({ format, pattern, minLength = 0, maxLength = 1000 }: z.output<typeof Schema>): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === 'date-time') return fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString());
  return anyText.filter((text) => text.length >= minLength && text.length <= maxLength);
}

/** A value that the schema takes. */
export function valueOf(given: JsonSchema): fc.Arbitrary<unknown> {
  const schema = Schema.parse(given);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valueOf));
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valueOf({ ...given, type })));
  if (schema.type === 'null') return fc.constant(null);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 });
  if (schema.type === 'number') return fc.double({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000, noNaN: true });
  if (schema.type === 'array') return fc.array(valueOf(schema.items ?? {}), { maxLength: Math.min(5, schema.maxItems ?? 5) });
  if (schema.type === 'object') {
    const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, valueOf(member)] as const);
    return fc.record(Object.fromEntries(members), { requiredKeys: schema.required.filter((name) => name in (schema.properties ?? {})) });
  }
  return schema.type === 'string' ? textOf(schema) : oddValue;
}

/** A payload of a forge. */
export const forgePayload = fc.constantFrom(...examples);
