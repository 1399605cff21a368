// The schemas of the management plane, and the problems of the service; the consumer plane has a contract of its own.
import { z } from 'zod';
import { problems } from '../platform/problem.ts';
import { queryInteger, storableText, Timestamp } from '../platform/schema.ts';
import { isStorable, named } from '../platform/json.ts';

/** The slug of an application or environment, made once from its name; '' when no character of the name can be part of one. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9\s-]/g, '')
    .replace(/[\s-]+/g, '-')
    .replace(/^-|-$/g, '');

export const keyPrefix = 'key_';
export const maxValueBytes = 64 * 1024;

/** A value of a secret or an entry. */
export const Value = z
  .string()
  .refine((value) => value.trim() !== '', { error: 'must not be empty' })
  .refine((value) => value.isWellFormed(), { error: 'must be Unicode text' })
  .refine((value) => Buffer.byteLength(value) <= maxValueBytes, { error: `must be at most ${maxValueBytes} bytes of UTF-8` });
const nameWithSlug = (max: number) => storableText({ min: 1, max }).refine((name) => slugOf(name) !== '', { error: 'must hold a letter a–z or a digit' });

// URLs take these for steps, escaped or not, so such a name could never be requested.
const isReachable = (name: string) => name !== '.' && name !== '..';
const inPath = (limits: { readonly min: number; readonly max: number }) => storableText(limits).refine(isReachable, { error: 'must not be . or ..' });

/** A name in a request: any text is accepted, and text that no name can be matches none. */
export const Name = z.string().transform(named);
/** In a body an empty slug is a fault. */
export const EnvironmentSlug = z
  .string()
  .refine((slug) => slug.trim() !== '', { error: 'must not be empty' })
  .transform(named);
const Description = storableText({ max: 1000 })
  .nullish()
  .transform((description) => description ?? null);

/** The keeper of an application; the service only compares it. */
const Owner = storableText({ min: 1, max: 500 }).describe('The keeper of the application, such as the object of an operator: <cluster>/<namespace>/<name>.');

const exampleApplication = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  name: 'Shop',
  slug: 'shop',
  description: 'The web shop',
  createdAt: '2026-03-15T12:00:00.000Z',
};

export const Application = z
  .object({
    id: z.uuid().describe('Its id, which never changes'),
    name: z.string().describe('Its name for people; several may have the same'),
    slug: z.string().describe('Its name in URLs, made of the first name; it never changes'),
    description: z.string().nullable().describe('A description in words'),
    /** Absent where the application has none. */
    owner: Owner.optional(),
    createdAt: Timestamp.describe('When it was created'),
    updatedAt: Timestamp.describe('When it was last changed'),
  })
  .meta({
    id: 'Application',
    description: 'A program, or several, that read their secrets with one key.',
    examples: [{ ...exampleApplication, updatedAt: '2026-03-15T12:00:00.000Z' }],
  });
export type Application = z.output<typeof Application>;

export const PlainKey = z
  .object({ plainApiKey: z.string().describe('The key in plain text, in this answer only: the service keeps its hash') })
  .meta({ id: 'PlainKey', description: 'A new key of an application.', examples: [{ plainApiKey: 'key_…' }] });
export type PlainKey = z.output<typeof PlainKey>;
export const CreatedApplication = Application.omit({ updatedAt: true })
  .extend({ plainApiKey: PlainKey.shape.plainApiKey.nullable().describe('The key in plain text, in this answer only; null with `withKey: false`') })
  .meta({
    id: 'CreatedApplication',
    description: 'A new application with its first key.',
    examples: [{ ...exampleApplication, plainApiKey: 'key_…' }],
  });
export type CreatedApplication = z.output<typeof CreatedApplication>;
/** The answer to a request without `withKey: false`. */
export const CreatedWithKey = CreatedApplication.extend(PlainKey.shape);

export const NewApplication = z
  .object({
    name: nameWithSlug(200).describe('A name for people, of which the slug is made'),
    description: Description.describe('A description in words'),
    owner: Owner.nullish().describe('The keeper of the application; without one no operator claims it'),
    withKey: z.boolean().default(true).describe('Whether it gets a key; without one, pods read with the tokens of bound ServiceAccounts'),
  })
  .meta({ id: 'NewApplication', description: 'An application to create.', examples: [{ name: 'Shop' }] });
export type NewApplication = z.output<typeof NewApplication>;
/** The slug stays, so the name need not hold a letter or digit. */
export const ApplicationUpdate = z
  .object({
    name: storableText({ min: 1, max: 200 }).describe('The new name; the slug stays'),
    description: Description.describe('The new description; left out it is cleared'),
    owner: Owner.nullish().describe('Left out it stays, null removes it; a text is accepted where there is none, or the same'),
  })
  .meta({ id: 'ApplicationUpdate', description: 'The members of an application that can change.', examples: [{ name: 'Shop', description: 'The web shop' }] });

export const Environment = z
  .object({
    id: z.uuid().describe('Its id, which never changes'),
    slug: z.string().describe('Its name in URLs, made of its name'),
    name: z.string().describe('Its name for people'),
    /** Absent where it inherits from none. */
    inherits: z.string().describe('The slug of the environment whose values are served where this one has none').optional(),
    createdAt: Timestamp.describe('When it was created'),
  })
  .meta({
    id: 'Environment',
    description: 'A place where an application runs, with values of its own.',
    examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', slug: 'production', name: 'Production', createdAt: '2026-03-15T12:00:00.000Z' }],
  });
export type Environment = z.output<typeof Environment>;
export const NewEnvironment = z
  .object({ name: nameWithSlug(100).describe('A name for people, of which the slug is made') })
  .meta({ id: 'NewEnvironment', description: 'An environment to create.', examples: [{ name: 'Production' }] });

export const EnvironmentUpdate = z
  .object({
    inherits: EnvironmentSlug.nullable().describe('The slug of the environment whose values are served where this one has none; null: of no other'),
  })
  .meta({ id: 'EnvironmentUpdate', description: 'The members of an environment that can change.', examples: [{ inherits: 'production' }] });

export const Secret = z
  .object({
    id: z.uuid().describe('Its id, which never changes'),
    name: z.string().describe('Its name, by which it is read; unique in its application'),
    description: z.string().nullable().describe('Its purpose, in words'),
    createdAt: Timestamp.describe('When it was created'),
    updatedAt: Timestamp.describe('When it, or a value of it, was last added or changed'),
  })
  .meta({
    id: 'Secret',
    description: 'A named secret of an application, without its values.',
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
  .object({ name: inPath({ min: 1, max: 200 }).describe('Its name, stored as given'), description: Description.describe('Its purpose, in words') })
  .meta({ id: 'NewSecret', description: 'A secret to create; values are added afterwards.', examples: [{ name: 'database-password' }] });
const RequiredEnvironment = z
  .object({
    slug: z.string().describe('The slug of the environment'),
    name: z.string().describe('The name of the environment'),
    valueProvided: z.boolean().describe('Whether the secret has a value there'),
  })
  .meta({ id: 'RequiredEnvironment', description: 'An environment that needs a value of a secret.' });
export const CreatedSecret = Secret.extend({
  requiredEnvironments: z.array(RequiredEnvironment).describe('Every environment of the application'),
}).meta({
  id: 'CreatedSecret',
  description: 'A new secret, and the environments that wait for a value.',
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

export const Configuration = z
  .object({
    id: z.uuid().describe('Its id, which never changes'),
    environmentSlug: z.string().describe('The slug of its environment'),
    key: z.string().describe('Its key, unique in its environment'),
    value: z.string().describe('Its value, which is not encrypted'),
    description: z.string().nullable().describe('Its purpose, in words'),
    createdAt: Timestamp.describe('When it was created'),
    updatedAt: Timestamp.describe('When it was last changed'),
  })
  .meta({
    id: 'Configuration',
    description: 'A configuration entry of an environment.',
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

const ConfigurationValue = Value.refine(isStorable, { error: 'must not hold NUL characters' });
export const NewConfiguration = z
  .object({
    environmentSlug: EnvironmentSlug.describe('The slug of the environment'),
    key: inPath({ min: 1, max: 500 }).describe('Its key, stored as given'),
    value: ConfigurationValue.describe('Its value, which is not encrypted'),
    description: Description.describe('Its purpose, in words'),
  })
  .meta({
    id: 'NewConfiguration',
    description: 'A configuration entry to create.',
    examples: [{ environmentSlug: 'production', key: 'features/checkout', value: 'on' }],
  });
export type NewConfiguration = z.output<typeof NewConfiguration>;
export const ConfigurationUpdate = z
  .object({
    value: ConfigurationValue.describe('The new value'),
    description: storableText({ max: 1000 }).nullable().optional().describe('The new description; left out it stays, null clears it'),
  })
  .meta({ id: 'ConfigurationUpdate', description: 'The members of a configuration entry that can change.', examples: [{ value: 'off' }] });
export type ConfigurationUpdate = z.output<typeof ConfigurationUpdate>;

/** Headers of an answer that no cache may keep, and their description. */
export const unkept = { 'Cache-Control': 'no-store' };
export const describedUnkept = { 'Cache-Control': '`no-store`: no cache may keep the answer' };

/** A name in a cursor. */
export const CursorName = z.string().refine(isStorable);

/** A page of the management plane: `limit` in the query of a list, `next` in its answer. */
export const Limit = queryInteger({ min: 1, max: 200, default: 50 }).meta({ description: 'How many items' });
export const Next = z
  .string()
  .nullable()
  .meta({ description: 'The cursor of the next page, for `after`; null on the last page', examples: [null] });

export const theName = { description: 'The name of the secret' };
export const theKey = { description: 'The key of the entry; a slash in it is sent as %2F' };
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
export const OfVersion = z.object({
  slug: parts.slug,
  name: parts.name,
  environmentSlug: parts.environmentSlug,
  version: z.string().meta({ description: 'The number of the version' }),
});
export const OfConfiguration = z.object({ slug: parts.slug, environmentSlug: parts.environmentSlug, key: parts.key });
/** Any text is accepted as a cursor; an unknown one is answered as one that is too old. */
export const ChangesAfter = z.object({
  after: z.string().default('').meta({ description: 'The `cursor` of the previous answer; without it only the newest cursor is answered' }),
});

export const Change = z
  .object({
    action: z.string().meta({ description: 'The action, in the words of the audit: `secret.add-version`, `application.delete`, …' }),
    application: z.string().meta({ description: 'The slug of the application' }),
    environment: z.string().nullable().meta({ description: 'The slug of the environment; null: everything of the application may have changed' }),
    secret: z.string().nullable().meta({ description: 'The name of the secret; null: all of the environment may have changed' }),
    configuration: z.string().nullable().meta({ description: 'The key of the configuration entry' }),
    changedAt: Timestamp.describe('When it was changed'),
  })
  .meta({
    id: 'Change',
    description: 'A change, narrowed by the members that are not null; it never holds a value.',
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
    cursor: z.string().meta({ description: 'The cursor to ask with next; the same as before where nothing changed', examples: ['0000000000000742-18'] }),
    changes: z.array(Change).describe('The changes, in the order of their commits'),
  })
  .meta({ id: 'ChangesPage', description: 'Changes after a cursor.' });
export type ChangesPage = z.output<typeof ChangesPage>;

export const Problems = problems({
  applicationMissing: { status: 404, title: 'No such application' },
  environmentMissing: { status: 404, title: 'No such environment' },
  secretMissing: { status: 404, title: 'No such secret' },
  versionMissing: { status: 404, title: 'No such version' },
  configurationMissing: { status: 404, title: 'No such configuration entry' },
  keyMissing: { status: 404, title: 'No such key' },
  accountMissing: { status: 404, title: 'No such ServiceAccount is bound to the application' },
  applicationTaken: { status: 409, title: 'An application with this slug exists' },
  applicationOwned: { status: 409, title: 'The application has another owner' },
  tooManyKeys: { status: 409, title: 'The application has as many keys as it may have' },
  accountTaken: { status: 409, title: 'The ServiceAccount is bound to another application' },
  tooManyAccounts: { status: 409, title: 'The application has as many ServiceAccounts as it may have' },
  environmentTaken: { status: 409, title: 'The application has an environment with this slug' },
  environmentChained: { status: 409, title: 'An environment inherits only from one that inherits from none' },
  environmentInherited: { status: 409, title: 'Another environment inherits from it' },
  versionChanged: { status: 409, title: 'The newest version is not the expected one' },
  secretTaken: { status: 409, title: 'The application has a secret with this name' },
  configurationTaken: { status: 409, title: 'The environment has an entry with this key' },
  /** The cursor is too old, of another database, or of a time that a recovery has undone. */
  cursorGone: { status: 410, title: 'Changes after this cursor are not kept any more: list everything anew' },
  tooManyPolls: { status: 503, title: 'Too many polls of the changes are waiting' },
  applicationBusy: { status: 503, title: 'Another write to this application takes too long' },
  /** Its detail names the master key and what is wrong with it. */
  masterKeysUnusable: { status: 503, title: 'The master keys are not usable, so nothing is written' },
});
