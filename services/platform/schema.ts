// Pieces that contracts are made of: times, texts counted in code points, numbers and choices as queries carry them.
import { z } from 'zod';

const expectations: Readonly<Record<string, string>> = {
  object: 'must be an object',
  array: 'must be an array',
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
};
const wrongTypes = new Set(Object.values(expectations));
/** Whether a message says no more than which type is expected. */
export const isWrongType = (message: string): boolean => wrongTypes.has(message);

// The words wherever a schema has none of its own: zod's begin with `Invalid input`, and speak of its types.
z.config({ customError: wordsOf });

function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return expectations[issue.expected];
    case 'invalid_value':
      return issue.values.length === 1 ? `must be ${String(issue.values[0])}` : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    default:
      return undefined;
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' || origin === 'set' ? ' items long' : '';
}

/** A time in an answer: a Date, on the wire ISO 8601 UTC with milliseconds and `Z`. */
export const Timestamp = z.date().meta({ override: { type: 'string', format: 'date-time', examples: ['2026-03-15T12:00:00.000Z'] } });

/** How many there are. */
export const Count = z
  .int()
  .min(0)
  .meta({ examples: [12] });

// An offset can lead out of the years that ISO 8601 writes with four digits, and that every reader of an answer understands.
const hasFourDigitYear = (text: string) => /^\d/.test(new Date(text).toISOString());

/** A time in a request: ISO 8601 with an offset or `Z`; an impossible date is refused, and so is one that is not of the years 0 to 9999 in UTC. */
export const TimestampInput = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date and time with an offset or Z, such as 2026-03-15T12:00:00Z', abort: true })
  .refine(hasFourDigitYear, { error: 'must be of the years 0000 to 9999 in UTC' })
  .transform((text) => new Date(text))
  // As a whole: what is given as an object is added to zod's own, a pattern of four lines.
  .meta({ override: ({ jsonSchema }) => void delete Object.assign(jsonSchema, { type: 'string', format: 'date-time' }).pattern });

const codePoints = (value: string) => [...value].length;

/** Text of `min` to `max` Unicode code points; white space only is empty. */
export function text({ min = 0, max }: { readonly min?: number; readonly max: number }) {
  return z
    .string({ error: 'must be a string' })
    .refine((value) => value.length <= max || codePoints(value) <= max, { error: `must be at most ${max} characters long` })
    .refine((value) => min === 0 || codePoints(value.trim()) >= min, { error: min === 1 ? 'must not be empty' : `must be at least ${min} characters long` })
    .meta({ override: { minLength: min, maxLength: max } });
}

/** Text in a query or header that stands for something else. @param read undefined for text that stands for nothing */
export const textFor = <T>(read: (text: string) => T | undefined, error: string) =>
  z.string().transform((value, context): T => {
    const found = read(value);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });

type Range = { readonly min: number; readonly max: number; readonly default?: number };

/** A whole number in a query or path. */
export function queryInteger(range: Range & { readonly default: number }): z.ZodType<number>;
export function queryInteger(range: Range): z.ZodType<number | undefined>;
export function queryInteger({ min, max, default: fallback }: Range): z.ZodType<number | undefined> {
  const number = z
    .string()
    .refine((value) => /^[+-]?\d+$/.test(value), { error: 'must be a whole number', abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `must be between ${min} and ${max}` })
    .meta({ override: { type: 'integer', minimum: min, maximum: max, ...(fallback !== undefined && { default: fallback }) } });
  return fallback === undefined ? number.optional() : number.default(fallback);
}

/** One of a closed set in a query: any case in, the documented spelling out. */
export function queryChoice<const C extends readonly string[]>(choices: C) {
  const find = (value: string): C[number] | undefined => choices.find((choice) => choice.toLowerCase() === value.toLowerCase());
  return textFor(find, `must be one of ${choices.join(', ')}`).meta({ override: { type: 'string', enum: [...choices] } });
}

/** Whether a text can be an id; what is none names nothing, and is not asked for. */
export const isGuid = (text: string): boolean => z.guid().safeParse(text).success;
