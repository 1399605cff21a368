// Schemas that contracts share: ids, times, texts counted in code points, and query parameters (numbers, choices, lists, cursors).
import { z } from 'zod';
import { isStorable, jsonIn, storableMs } from './json.ts';

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

export const Id = (description: string) => z.string().meta({ override: { format: 'uuid' }, description });

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

type Lengths = { readonly min?: number; readonly max: number };

/** Text of `min` to `max` Unicode code points; white space only is empty. */
export function text({ min = 0, max }: Lengths) {
  return z
    .string({ error: 'must be a string' })
    .refine((value) => value.length <= max || codePoints(value) <= max, { error: `must be at most ${max} characters long` })
    .refine((value) => min === 0 || codePoints(value.trim()) >= min, { error: min === 1 ? 'must not be empty' : `must be at least ${min} characters long` })
    .meta({ override: { minLength: min, maxLength: max } });
}

export const storableText = (lengths: Lengths) => text(lengths).refine(isStorable, { error: 'must be Unicode text without NUL characters' });

/** Storable text, read without the white space around it. */
export const trimmedText = (lengths: Lengths) =>
  z
    .string({ error: 'must be a string' })
    .trim()
    .pipe(storableText(lengths))
    .meta({ override: { minLength: lengths.min ?? 0, maxLength: lengths.max } });

/** Text in a query or header that is read as something else. @param read undefined for text that is not valid */
export const textFor = <T>(read: (text: string) => T | undefined, error: string) =>
  z.string().transform((value, context): T => {
    const found = read(value);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** The number that a text is in JSON, RFC 8259 section 6, such as `1e3`; undefined for any other text. */
export function readNumber(text: string): number | undefined {
  const number = jsonNumber.test(text) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : undefined;
}

/** A number in a query. */
export const queryNumber = textFor(readNumber, 'must be a number').meta({ override: { type: 'number' } });

type Range = { readonly min: number; readonly max: number; readonly default?: number };

/** A whole number in a query, header or path. */
export function queryInteger(range: Range & { readonly default: number }): z.ZodType<number>;
export function queryInteger(range: Range): z.ZodType<number | undefined>;
export function queryInteger({ min, max, default: fallback }: Range): z.ZodType<number | undefined> {
  const readInteger = (text: string) => {
    const number = jsonNumber.test(text) ? Number(text) : NaN;
    return Number.isInteger(number) || Math.abs(number) === Infinity ? number : undefined;
  };
  const number = textFor(readInteger, 'must be a whole number')
    .refine((value) => value >= min && value <= max, { error: `must be between ${min} and ${max}` })
    .meta({
      override: {
        type: 'integer',
        minimum: min,
        maximum: max,
        ...(max > maxInt32 && { format: 'int64' }),
        ...(fallback !== undefined && { default: fallback }),
      },
    });
  return fallback === undefined ? number.optional() : number.default(fallback);
}

const maxInt32 = 2 ** 31 - 1;

/** One of a closed set in a query: any case is accepted, the documented spelling is the result. @param choices an enum with an `id` is a component of the API description */
export function queryChoice<const C extends string>(choices: readonly C[] | z.ZodEnum<{ [K in C]: K }>) {
  const choice = 'options' in choices ? choices : (z.enum(choices) as z.ZodEnum<{ [K in C]: K }>); // made of these very choices
  const spelled = new Map(choice.options.map((one) => [one.toLowerCase(), one]));
  return z.preprocess((value) => (typeof value === 'string' ? (spelled.get(value.toLowerCase()) ?? value) : value), choice);
}

// A map: an object has further names, such as `constructor`.
const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** `true` or `false` in a query, in any case. */
export const queryBoolean = textFor((text) => booleans.get(text.toLowerCase()), 'must be true or false').meta({
  override: { type: 'boolean' },
});

const entriesOf = (text: unknown) =>
  typeof text === 'string'
    ? text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '')
    : text;

/** Several values of a query parameter, separated by commas; blank entries are dropped. */
export const queryList = <Entry extends z.ZodType>(entry: Entry) =>
  z
    .preprocess(entriesOf, z.array(entry))
    .default([])
    .meta({ param: { style: 'form', explode: false } });

/** The members of a JSON Merge Patch, RFC 7396: an absent one is absent in what is read as well. */
export const exactlyOptional = <Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape) =>
  Object.fromEntries(Object.entries(shape).map(([name, member]) => [name, z.exactOptional(member)])) as unknown as {
    readonly [Name in keyof Shape]: z.ZodExactOptional<Shape[Name]>;
  }; // one for each member

/** A query parameter that may be given several times; the route names it as `repeatable`. Blank values are dropped. */
export const queryRepeated = <Entry extends z.ZodType>(entry: Entry, { max }: { readonly max: number }) =>
  z
    .preprocess(
      (given: unknown) => [given].flat().filter((value) => typeof value === 'string' && value.trim() !== ''),
      z.array(entry).max(max, { error: `must be given at most ${max} times` }),
    )
    .default([])
    .meta({ param: { style: 'form', explode: true } });

/**
 * The cursor of a list: opaque text of the list's name and the keys of the last row of a page, so that rows inserted meanwhile move nothing,
 * and no list accepts the cursor of another.
 */
export const encodeCursor = (list: string, keys: readonly unknown[]): string => Buffer.from(JSON.stringify([list, ...keys])).toString('base64url');

/** A query parameter for a cursor of the list. @param origin where a caller has it from */
export function queryCursor<Keys extends z.ZodType>(list: string, keys: Keys, origin = 'the `next` of another page of this list') {
  function read(text: string): z.output<Keys> | undefined {
    const decoded = jsonIn(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(decoded) && decoded[0] === list ? keys.safeParse(decoded.slice(1)).data : undefined;
  }
  return textFor(read, `must be ${origin}`)
    .optional()
    .meta({ override: { type: 'string' }, description: 'The `next` of another page of this list' });
}

/** Among the keys of a cursor: a time that Postgres takes. */
export const milliseconds = z.int().min(storableMs.first).max(storableMs.last);
/** The same as a Date. */
export const cursorTime = milliseconds.transform((ms) => new Date(ms));

/** Whether a text can be an id. */
export const isGuid = (text: string): boolean => z.guid().safeParse(text).success;

/** A URL parser drops tabs and line ends, so that an address with them is another one than a person reads. */
const hasNoControls = (url: string) => !/\p{Cc}/u.test(url);
const hasNoPassword = (url: string) => {
  const parsed = URL.parse(url);
  return !parsed || `${parsed.username}${parsed.password}` === '';
};
/** Characters that no address has, and that would end an attribute of a page; a browser sends them in this form. */
const withoutQuotes = (url: string) => url.replaceAll(/["<>`]/g, (character) => encodeURIComponent(character));

export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

/** An http or https address that a page can show as a link. */
export const webAddress = (given: z.ZodType<string, string>) =>
  given
    .refine(isWebAddress, { error: 'must be an absolute http or https URL' })
    .refine(hasNoControls, { error: 'must not hold control characters' })
    .refine(hasNoPassword, { error: 'must not hold a user name or password' })
    .transform(withoutQuotes);

const imageData = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)[;,]/i;

/** Whether a page can show it as a picture: a relative, http or https address, or the bytes themselves; nothing that a browser would run. */
export function isPicture(address: string): boolean {
  const protocol = URL.parse(address)?.protocol;
  return protocol === undefined || protocol === 'http:' || protocol === 'https:' || imageData.test(address.trim());
}
