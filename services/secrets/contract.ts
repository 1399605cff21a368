// Everything the secrets service says on the wire, on the management plane and on the consumer plane.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { text, Timestamp, TimestampInput } from '../platform/schema.ts';
import { isStorable } from '../platform/json.ts';

/** The slug of an application or environment, made of its name once; '' when nothing of the name can be part of one. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, '')
    .replace(/[\s-]+/g, '-')
    .replace(/^-|-$/g, '');

export const keyPrefix = 'key_';
export const maxValueBytes = 64 * 1024;
export const maxValueItems = 100;

const storable = (limits: { readonly min?: number; readonly max: number }) =>
  text(limits).refine(isStorable, { error: 'must be Unicode text without NUL characters' });

const Value = z
  .string()
  .refine((value) => value.trim() !== '', { error: 'must not be empty' })
  .refine((value) => value.isWellFormed(), { error: 'must be Unicode text' })
  .refine((value) => Buffer.byteLength(value) <= maxValueBytes, { error: `must be at most ${maxValueBytes} bytes of UTF-8` });
const named = (max: number) => storable({ min: 1, max }).refine((name) => slugOf(name) !== '', { error: 'must hold a letter a–z or a digit' });

// URLs take these for steps, escaped or not: what is named so could never be asked for.
const isReachable = (name: string) => name !== '.' && name !== '..';
const inPath = (limits: { readonly min: number; readonly max: number }) => storable(limits).refine(isReachable, { error: 'must not be . or ..' });

/** In a path or query any text is taken; one that no name can be names nothing. */
const namesNothing = '';
const Name = z.string().transform((value) => (isStorable(value) ? value : namesNothing));
/** In a body an empty one is a fault. */
const EnvironmentSlug = z
  .string()
  .refine((slug) => slug.trim() !== '', { error: 'must not be empty' })
  .transform((slug) => (isStorable(slug) ? slug : namesNothing));
const Description = storable({ max: 1000 })
  .nullish()
  .transform((description) => description ?? null);

/** The keeper of an application; the service only compares it. */
const Owner = storable({ min: 1, max: 500 }).describe('The keeper of the application, such as the object of an operator: <cluster>/<namespace>/<name>.');

const exampleApplication = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  name: 'Shop',
  slug: 'shop',
  description: 'The web shop',
  createdAt: '2026-03-15T12:00:00.000Z',
};

export const Application = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    /** Absent where the application has none. */
    owner: Owner.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'Application',
    examples: [{ ...exampleApplication, updatedAt: '2026-03-15T12:00:00.000Z' }],
  });
export type Application = z.output<typeof Application>;

/** The one time that the key of an application is shown. */
export const PlainKey = z.object({ plainApiKey: z.string() }).meta({ id: 'PlainKey', examples: [{ plainApiKey: 'key_…' }] });
export type PlainKey = z.output<typeof PlainKey>;
export const CreatedApplication = Application.omit({ updatedAt: true })
  .extend(PlainKey.shape)
  .meta({
    id: 'CreatedApplication',
    examples: [{ ...exampleApplication, plainApiKey: 'key_…' }],
  });
export type CreatedApplication = z.output<typeof CreatedApplication>;

export const NewApplication = z
  .object({ name: named(200), description: Description, owner: Owner.nullish() })
  .meta({ id: 'NewApplication', examples: [{ name: 'Shop' }] });
export type NewApplication = z.output<typeof NewApplication>;
/** The slug stays what it is, so the name need not make one. An owner that is left out stays, null takes it away, a text is taken where there is none or the same. */
export const ApplicationUpdate = z
  .object({ name: storable({ min: 1, max: 200 }), description: Description, owner: Owner.nullish() })
  .meta({ id: 'ApplicationUpdate', examples: [{ name: 'Shop', description: 'The web shop' }] });

export const Environment = z.object({ id: z.string(), slug: z.string(), name: z.string(), createdAt: Timestamp }).meta({
  id: 'Environment',
  examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', slug: 'production', name: 'Production', createdAt: '2026-03-15T12:00:00.000Z' }],
});
export type Environment = z.output<typeof Environment>;
export const NewEnvironment = z.object({ name: named(100) }).meta({ id: 'NewEnvironment', examples: [{ name: 'Production' }] });

export const Secret = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'Secret',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        name: 'database-password',
        description: null,
        createdAt: '2026-03-15T12:00:00.000Z',
        updatedAt: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type Secret = z.output<typeof Secret>;
export const NewSecret = z
  .object({ name: inPath({ min: 1, max: 200 }), description: Description })
  .meta({ id: 'NewSecret', examples: [{ name: 'database-password' }] });
export const CreatedSecret = Secret.extend({
  /** One for each environment that the application has. */
  requiredEnvironments: z.array(z.object({ slug: z.string(), name: z.string(), valueProvided: z.boolean() })),
}).meta({
  id: 'CreatedSecret',
  examples: [
    {
      id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
      name: 'database-password',
      description: null,
      createdAt: '2026-03-15T12:00:00.000Z',
      updatedAt: '2026-03-15T12:00:00.000Z',
      requiredEnvironments: [{ slug: 'production', name: 'Production', valueProvided: false }],
    },
  ],
});
export type CreatedSecret = z.output<typeof CreatedSecret>;

type Span = { readonly expiresAt?: unknown; readonly notBefore?: unknown };
const isAfterStart = ({ expiresAt, notBefore }: Span) =>
  !(expiresAt instanceof Date) || !(notBefore instanceof Date) || expiresAt.getTime() > notBefore.getTime();
/** Told together with the faults of other members, which zod by itself would tell first. */
const isObject = ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null;

export const ValueItem = z
  .object({
    environmentSlug: EnvironmentSlug,
    value: Value,
    isEnabled: z.boolean().default(true),
    expiresAt: TimestampInput.nullish().transform((time) => time ?? null),
    notBefore: TimestampInput.nullish().transform((time) => time ?? null),
  })
  .refine(isAfterStart, { path: ['expiresAt'], error: 'must be after notBefore', when: isObject })
  .meta({ id: 'ValueItem', examples: [{ environmentSlug: 'production', value: 'correct horse battery staple' }] });
export type ValueItem = z.output<typeof ValueItem>;
export const ValueItems = z
  .array(ValueItem, { error: 'must be an array of value items' })
  .max(maxValueItems, { error: `must hold at most ${maxValueItems} items` });

/** A version as administrators see it: everything but its value. */
export const SecretVersion = z
  .object({
    id: z.string(),
    version: z.int().min(1),
    isEnabled: z.boolean(),
    expiresAt: Timestamp.nullable(),
    notBefore: Timestamp.nullable(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'SecretVersion',
    examples: [
      { id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', version: 2, isEnabled: true, expiresAt: null, notBefore: null, createdAt: '2026-03-15T12:00:00.000Z' },
    ],
  });
export type SecretVersion = z.output<typeof SecretVersion>;

export const Configuration = z
  .object({
    id: z.string(),
    environmentSlug: z.string(),
    key: z.string(),
    value: z.string(),
    description: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'Configuration',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        environmentSlug: 'production',
        key: 'features/checkout',
        value: 'on',
        description: null,
        createdAt: '2026-03-15T12:00:00.000Z',
        updatedAt: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type Configuration = z.output<typeof Configuration>;

const ConfigurationValue = Value.refine((value) => !value.includes('\0'), { error: 'must not hold NUL characters' });
export const NewConfiguration = z
  .object({
    environmentSlug: EnvironmentSlug,
    key: inPath({ min: 1, max: 500 }),
    value: ConfigurationValue,
    description: Description,
  })
  .meta({ id: 'NewConfiguration', examples: [{ environmentSlug: 'production', key: 'features/checkout', value: 'on' }] });
export type NewConfiguration = z.output<typeof NewConfiguration>;
/** An omitted description stays as it is, null clears it. */
export const ConfigurationUpdate = z
  .object({ value: ConfigurationValue, description: storable({ max: 1000 }).nullable().optional() })
  .meta({ id: 'ConfigurationUpdate', examples: [{ value: 'off' }] });
export type ConfigurationUpdate = z.output<typeof ConfigurationUpdate>;

const theName = { description: 'The name of the secret' };
const theKey = { description: 'The key of the entry; a slash in it is sent as %2F' };
const parts = {
  slug: Name.meta({ description: 'The slug of the application' }),
  environmentSlug: Name.meta({ description: 'The slug of the environment' }),
  name: Name.meta(theName),
  key: Name.meta(theKey),
};
/** Path parameters of the management plane. */
export const InApplication = z.object({ slug: parts.slug });
export const InEnvironment = z.object({ slug: parts.slug, envSlug: parts.environmentSlug });
export const OfSecret = z.object({ slug: parts.slug, name: parts.name });
export const OfSecretIn = z.object({ slug: parts.slug, name: parts.name, environmentSlug: parts.environmentSlug });
export const OfConfiguration = z.object({ slug: parts.slug, environmentSlug: parts.environmentSlug, key: parts.key });
/** Of the consumer plane, which says what names nothing. */
export const ByName = z.object({ name: z.string().meta(theName) });
export const ByKey = z.object({ key: z.string().meta(theKey) });
/** Optional only to the parser: the consumer plane asks for the key before it speaks of the query. */
export const InQuery = z.object({
  environment: z
    .string()
    .optional()
    .meta({ description: 'The slug of the environment', param: { required: true } }),
});

/** In the shape of a common cloud vault, so that its clients need not change. */
export const ConsumerSecret = z
  .object({
    name: z.string(),
    value: z.string(),
    properties: z.object({
      enabled: z.boolean(),
      expiresOn: Timestamp.nullable(),
      notBefore: Timestamp.nullable(),
      version: z.int().min(1),
      createdOn: Timestamp,
      updatedOn: Timestamp.nullable(),
    }),
  })
  .meta({
    id: 'ReadSecret',
    examples: [
      {
        name: 'database-password',
        value: 'correct horse battery staple',
        properties: {
          enabled: true,
          expiresOn: null,
          notBefore: null,
          version: 2,
          createdOn: '2026-03-15T12:00:00.000Z',
          updatedOn: '2026-03-15T12:00:00.000Z',
        },
      },
    ],
  });
export type ConsumerSecret = z.output<typeof ConsumerSecret>;

/** `label` is the environment's slug. */
export const ConsumerConfiguration = z
  .object({ key: z.string(), value: z.string(), label: z.string().meta({ description: "The environment's slug" }) })
  .meta({ id: 'ReadConfiguration', examples: [{ key: 'features/checkout', value: 'on', label: 'production' }] });
export type ConsumerConfiguration = z.output<typeof ConsumerConfiguration>;
export const ConsumerConfigurations = z.object({ items: z.array(ConsumerConfiguration) }).meta({ id: 'ReadConfigurations' });

/** In a URL: the `cursor` of the answer before. Any text is taken; one that is no cursor of ours is as good as one that is too old. */
export const ChangesAfter = z.object({
  after: z.string().default('').meta({ description: 'The `cursor` of the answer before; without it from now on' }),
});

/** Narrowed by what is not null: with an environment alone all of it changed, with none all of the application may have. Never a value. */
export const Change = z
  .object({
    action: z.string().meta({ description: 'What was done, in the words of the audit: `secret.add-version`, `application.delete`, …' }),
    application: z.string().meta({ description: 'Its slug' }),
    environment: z.string().nullable().meta({ description: 'The slug; null: all that the application has' }),
    secret: z.string().nullable().meta({ description: 'The name' }),
    configuration: z.string().nullable().meta({ description: 'The key of an entry' }),
    changedAt: Timestamp,
  })
  .meta({
    id: 'Change',
    examples: [
      {
        action: 'secret.add-version',
        application: 'shop',
        environment: 'production',
        secret: 'database-password',
        configuration: null,
        changedAt: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type Change = z.output<typeof Change>;

export const ChangesPage = z
  .object({
    cursor: z.string().meta({ description: 'What to ask for next; it stays what it was where nothing changed', examples: ['0000000000000742-18'] }),
    /** In the order in which they came into effect. */
    changes: z.array(Change),
  })
  .meta({ id: 'ChangesPage' });
export type ChangesPage = z.output<typeof ChangesPage>;

export const Problems = problems({
  applicationMissing: { status: 404, title: 'No such application' },
  environmentMissing: { status: 404, title: 'No such environment' },
  secretMissing: { status: 404, title: 'No such secret' },
  configurationMissing: { status: 404, title: 'No such configuration entry' },
  applicationTaken: { status: 409, title: 'An application with this slug exists' },
  applicationOwned: { status: 409, title: 'The application has another owner' },
  environmentTaken: { status: 409, title: 'The application has an environment with this slug' },
  secretTaken: { status: 409, title: 'The application has a secret with this name' },
  configurationTaken: { status: 409, title: 'The environment has an entry with this key' },
  /** It is too old, of another database, or of a time that a recovery has undone. */
  cursorGone: { status: 410, title: 'Changes after this cursor are not kept any more: list everything anew' },
  tooManyPolls: { status: 503, title: 'Too many polls of the changes are waiting' },
  applicationBusy: { status: 503, title: 'Another write to this application takes too long' },
  /** Its detail names the master key and what is wrong with it. */
  masterKeysUnusable: { status: 503, title: 'The master keys are not usable, so nothing is written' },
});
