// How a direct source is declared in a file: the schema of each member. docs/sources.md explains them.
import { z } from 'zod';
import { memberAt } from '../../platform/json.ts';

/** The value that came, for the fault of a member that holds no credential. */
export const came = (input: unknown) => (input === undefined ? '' : `, not ${JSON.stringify(input)?.slice(0, 60)}`);
const map: z.core.TypeParams<z.ZodObject> = {
  error: (issue) => (issue.code === 'unrecognized_keys' ? `has members that are not known: ${issue.keys.join(', ')}` : `must be a map${came(issue.input)}`),
};
const oneOf = <const C extends string>(...choices: readonly C[]) =>
  z.enum(choices, { error: ({ input }) => `must be one of ${choices.join(', ')}${came(input)}` });
const matching = (pattern: RegExp, what: string) =>
  z.string({ error: ({ input }) => `must be ${what}${came(input)}` }).regex(pattern, { error: ({ input }) => `must be ${what}${came(input)}` });

const credentialHeaders = ['authorization', 'proxy-authorization', 'cookie', 'x-source-token'];
const AnyHeader = matching(/^[A-Za-z0-9-]{1,100}$/, 'the name of a header');
/** Its value is kept with the event. */
const Header = AnyHeader.refine((name) => !credentialHeaders.includes(name.toLowerCase()), {
  error: ({ input }) => `must be a header that holds no credential${came(input)}`,
});
const Affix = z.string({ error: 'must be text' }).max(100, 'must be text of at most 100 characters');

const Pointer = matching(/^(\/[^/]*){1,10}$/, 'a JSON pointer of at most 10 names, such as /data/id');
const place = 'must be a JSON pointer such as /data/id, or a map of header or value';
const Place = z.union(
  [
    Pointer.transform((pointer) => ({ kind: 'pointer' as const, pointer })),
    z.strictObject({ header: Header }, map).transform(({ header }) => ({ kind: 'header' as const, header })),
    z.strictObject({ value: z.string().min(1).max(100) }, map).transform(({ value }) => ({ kind: 'value' as const, value })),
  ],
  { error: ({ input }) => `${place}${came(input)}` },
);
export type Place = z.output<typeof Place>;
const Places = z.union([Place.transform((one) => [one]), z.array(Place).min(1).max(10)], { error: ({ input }) => `${place}, or a list of them${came(input)}` });

const signedForm = /^(?:[^{}]|\{(?:body|time|header:[A-Za-z0-9-]{1,100})\})*$/;
const Hmac = z
  .strictObject(
    {
      by: z.literal('hmac'),
      header: AnyHeader,
      algorithm: oneOf('sha1', 'sha256', 'sha512').default('sha256'),
      encoding: oneOf('hex', 'base64', 'base64url').default('hex'),
      prefix: Affix.default(''),
      separator: matching(/^[,; ]$/, 'a comma, a semicolon or a space').optional(),
      signed: matching(signedForm, 'text with {body}, {time} and {header:NAME}').max(500).default('{body}'),
      time: z
        .strictObject(
          {
            header: AnyHeader,
            prefix: Affix.default(''),
            toleranceSeconds: z
              .int({ error: ({ input }) => `must be a whole number from 1 to 86400${came(input)}` })
              .min(1)
              .max(86_400)
              .default(300),
          },
          map,
        )
        .optional(),
    },
    map,
  )
  .refine(({ signed }) => signed.split('{body}').length === 2, { path: ['signed'], error: 'must have {body} once' })
  .refine(({ signed, time }) => time !== undefined || !signed.includes('{time}'), { path: ['time'], error: 'is required where signed has {time}' });
export type Hmac = z.output<typeof Hmac>;

const Token = z.strictObject(
  {
    by: z.literal('token'),
    header: AnyHeader.default('X-Source-Token'),
    prefix: Affix.default(''),
    inQuery: z.boolean({ error: 'must be true or false' }).default(false),
  },
  map,
);
export type Token = z.output<typeof Token>;

const kinds = ['hmac', 'standard-webhooks', 'token', 'basic'];
const Verification = z.discriminatedUnion(
  'by',
  [Hmac, z.strictObject({ by: z.literal('standard-webhooks') }, map), Token, z.strictObject({ by: z.literal('basic') }, map)],
  { error: ({ input }) => `must be a map whose member by is one of ${kinds.join(', ')}${came(memberAt(input, 'by') ?? input)}` },
);

const Handshake = z.strictObject(
  {
    at: z
      .union(
        [
          Pointer.transform((pointer) => ({ kind: 'pointer' as const, pointer })),
          z.strictObject({ header: Header }, map).transform(({ header }) => ({ kind: 'header' as const, header })),
          z.strictObject({ query: z.string().min(1).max(100) }, map).transform(({ query }) => ({ kind: 'query' as const, query })),
        ],
        { error: ({ input }) => `must be a JSON pointer such as /challenge, or a map of header or query${came(input)}` },
      )
      .optional(),
    member: z.string({ error: 'must be text' }).min(1).max(100).optional(),
  },
  map,
);
export type Handshake = z.output<typeof Handshake>;

const NamedSecrets = matching(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'the name of an environment variable');
const Declaration = z
  .strictObject(
    {
      name: matching(/^[a-z][a-z0-9-]{0,39}$/, 'a name of up to 40 small letters, digits and -, with a letter first'),
      label: z.string({ error: 'must be text' }).min(1).max(100).optional(),
      secretsFrom: NamedSecrets.optional(),
      secrets: z
        .array(z.string({ error: 'must be text' }), { error: 'must be a list' })
        .min(1, 'must have a secret')
        .optional(),
      verification: Verification,
      handshake: Handshake.optional(),
      takesForms: z.boolean({ error: 'must be true or false' }).default(false),
      takesText: z.boolean({ error: 'must be true or false' }).default(false),
      event: Places.optional(),
      action: Places.optional(),
      repository: Places.optional(),
      key: Places.optional(),
      title: Places.optional(),
      text: Places.optional(),
      url: Places.optional(),
      failure: z
        .strictObject(
          {
            at: Place,
            is: z
              .array(z.string({ error: 'must be text' }), { error: 'must be a list of texts' })
              .min(1)
              .max(100),
          },
          map,
        )
        .optional(),
    },
    map,
  )
  .refine(({ secretsFrom, secrets }) => (secretsFrom === undefined) !== (secrets === undefined), {
    error: 'must have secretsFrom, the name of an environment variable, or else secrets, a list',
  });
export type Declaration = z.output<typeof Declaration>;

export const SourcesFile = z.strictObject(
  { sources: z.array(Declaration, { error: ({ input }) => `must be a list${came(input)}` }).max(100, 'must have at most 100 sources') },
  map,
);
