// The schemas of values and versions of secrets and of further keys, on the management plane.
import { z } from 'zod';
import { encodeCursor, queryBoolean, queryChoice, queryCursor, queryInteger, storableText, Timestamp, TimestampInput } from '../../platform/schema.ts';
import { CursorName, EnvironmentSlug, InApplication, Limit, Name, Next, PlainKey, Value } from '../contract.ts';

export const maxValueItems = 100;

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** The characters of generated values. `symbols` has none that a shell, a URL's user part or a dotenv file reads as something else. */
export const alphabets = { alphanumeric, hex: '0123456789abcdef', digits: '0123456789', symbols: `${alphanumeric}-._~+=,` } as const;

export const Generate = z
  .object({
    length: z.int32().min(8).max(1024).default(32).describe('How many characters'),
    alphabet: z.enum(['alphanumeric', 'hex', 'digits', 'symbols']).default('alphanumeric').describe('Which characters; `symbols` adds `-._~+=,`'),
  })
  .meta({ id: 'Generate', description: 'A random value.', examples: [{ length: 32, alphabet: 'alphanumeric' }] });
export type Generate = z.output<typeof Generate>;

type Span = { readonly expiresAt?: unknown; readonly notBefore?: unknown };
const isAfterStart = ({ expiresAt, notBefore }: Span) =>
  !(expiresAt instanceof Date) || !(notBefore instanceof Date) || expiresAt.getTime() > notBefore.getTime();
/** Lets zod report this fault together with those of other members. */
const isObject = ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null;

/** The consumer plane's words: without a refusal such a version would be served at once and without end, and such a key be valid without end. */
const refuseWords = (what: string, words: Readonly<Record<string, string>>) => (given: object, context: z.RefinementCtx) => {
  for (const [word, ours] of Object.entries(words))
    if (Object.hasOwn(given, word)) context.addIssue({ code: 'custom', path: [word], message: `is not a member of a ${what}: send ${ours}` });
};

type Given = { readonly value?: unknown; readonly generate?: unknown };
const hasOneSource = ({ value, generate }: Given) => (value === undefined) !== (generate === undefined);

export const ValueItem = z
  .looseObject({
    environmentSlug: EnvironmentSlug.describe('The slug of the environment'),
    value: Value.optional().describe('The value, stored encrypted and as given'),
    generate: Generate.optional().describe(
      'Instead of `value`: a random one, made where the environment has no version of the secret; else the item is done already',
    ),
    expectedVersion: z
      .int32()
      .min(0)
      .optional()
      .describe('The number of the newest version in the environment, 0 for none; with another one nothing is stored and the answer is 409'),
    isEnabled: z
      .boolean()
      .nullish()
      .transform((given) => given ?? true)
      .meta({ description: 'Whether the version is served', override: { default: true } }),
    expiresAt: TimestampInput.nullish()
      .transform((time) => time ?? null)
      .describe('The version is served until this time, inclusive; null: without end'),
    notBefore: TimestampInput.nullish()
      .transform((time) => time ?? null)
      .describe('The version is served from this time, inclusive; null: at once'),
  })
  .refine(hasOneSource, { path: ['value'], error: 'is required, or else generate', when: isObject })
  .superRefine(refuseWords('value item', { enabled: 'isEnabled', expiresOn: 'expiresAt' }))
  .refine(isAfterStart, { path: ['expiresAt'], error: 'must be after notBefore', when: isObject })
  .meta({
    id: 'ValueItem',
    description: 'A value to add as the newest version in an environment.',
    examples: [{ environmentSlug: 'production', value: 'correct horse battery staple' }],
  });
export type ValueItem = z.output<typeof ValueItem>;
const tooManyItems = { error: `must hold at most ${maxValueItems} items` };
export const ValueItems = z.array(ValueItem, { error: 'must be an array of value items' }).max(maxValueItems, tooManyItems);

export const SecretVersion = z
  .object({
    id: z.uuid().describe('Its id, which never changes'),
    version: z.int32().min(1).describe('Its number in the environment, from 1'),
    isEnabled: z.boolean().describe('Whether it is served'),
    expiresAt: Timestamp.nullable().describe('It is served until this time, inclusive; null: without end'),
    notBefore: Timestamp.nullable().describe('It is served from this time, inclusive; null: at once'),
    createdAt: Timestamp.describe('When it was created'),
  })
  .meta({
    id: 'SecretVersion',
    description: 'A version of a secret as administrators see it: everything but its value.',
    examples: [
      { id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', version: 2, isEnabled: true, expiresAt: null, notBefore: null, createdAt: '2026-03-15T12:00:00.000Z' },
    ],
  });
export type SecretVersion = z.output<typeof SecretVersion>;
type Activity = { readonly isEnabled: boolean; readonly notBefore: Date | null; readonly expiresAt: Date | null };
/** Whether a version is served at a time, its bounds included. @param marginMs how far from its bounds the time must be, where another clock decides */
export const isActive = ({ isEnabled, notBefore, expiresAt }: Activity, now: Date, marginMs = 0): boolean =>
  isEnabled &&
  (notBefore === null || notBefore.getTime() <= now.getTime() - marginMs) &&
  (expiresAt === null || expiresAt.getTime() >= now.getTime() + marginMs);

export const VersionChange = z
  .object({ isEnabled: z.boolean().describe('Whether the version is served') })
  .meta({ id: 'VersionChange', description: 'The member of a version that can change.', examples: [{ isEnabled: false }] });

/** A page of a list whose body is an array: all of it without a limit. */
const arrayQuery = <Keys extends z.ZodType>(list: string, keys: Keys) =>
  z.object({
    limit: queryInteger({ min: 1, max: 200 }).meta({ description: 'How many items; without it all' }),
    after: queryCursor(list, keys),
  });
const lists = { applications: 'applications', environments: 'environments', secrets: 'secrets', versions: 'versions', configurations: 'configurations' };
export const ApplicationsQuery = arrayQuery(lists.applications, z.tuple([CursorName]));
export const applicationsCursor = (slug: string) => encodeCursor(lists.applications, [slug]);
export const EnvironmentsQuery = arrayQuery(lists.environments, z.tuple([z.iso.datetime().transform((text) => new Date(text)), z.uuid()]));
export const environmentsCursor = ({ createdAt, id }: { readonly createdAt: Date; readonly id: string }) => encodeCursor(lists.environments, [createdAt, id]);
export const SecretsQuery = arrayQuery(lists.secrets, z.tuple([CursorName]));
export const secretsCursor = (name: string) => encodeCursor(lists.secrets, [name]);
export const VersionsQuery = arrayQuery(lists.versions, z.tuple([z.int32().min(1)]));
export const versionsCursor = (version: number) => encodeCursor(lists.versions, [version]);
export const ConfigurationsQuery = arrayQuery(lists.configurations, z.tuple([CursorName, CursorName]));
export const configurationsCursor = ({ environmentSlug, key }: { readonly environmentSlug: string; readonly key: string }) =>
  encodeCursor(lists.configurations, [environmentSlug, key]);

/** Keys that an application may have at once: a bound for their list. */
export const maxKeys = 100;

const exampleKey = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  name: 'blue',
  fingerprint: '3fa9c2d481b07e65',
  createdAt: '2026-03-15T12:00:00.000Z',
  lastUsedAt: null,
  expiresAt: null,
};
export const ApplicationKey = z
  .object({
    id: z.uuid().describe('Its id, by which the audit names it and it is deleted'),
    name: z.string().nullable().describe('Its name for people'),
    fingerprint: z.string().describe('The first 16 hexadecimal digits of the SHA-256 of the key: a holder of the key finds its entry by them'),
    createdAt: Timestamp.describe('When it was created'),
    lastUsedAt: Timestamp.nullable().describe('When an application last read with it, to the minute; null: never'),
    expiresAt: Timestamp.nullable().describe('It is valid until this time, inclusive; null: without end'),
  })
  .meta({ id: 'ApplicationKey', description: 'A key of an application, never the key itself.', examples: [exampleKey] });
export type ApplicationKey = z.output<typeof ApplicationKey>;
export const ApplicationKeys = z
  .object({ items: z.array(ApplicationKey).describe('The keys, oldest first') })
  .meta({ id: 'ApplicationKeys', description: 'All keys of an application.' });
export const CreatedKey = ApplicationKey.extend(PlainKey.shape).meta({
  id: 'CreatedKey',
  description: 'A new key of an application, with its text.',
  examples: [{ ...exampleKey, plainApiKey: 'key_…' }],
});
export const NewKey = z
  .looseObject({
    name: storableText({ min: 1, max: 200 })
      .nullish()
      .transform((name) => name ?? null)
      .describe('A name for people'),
    expiresAt: TimestampInput.nullish()
      .transform((time) => time ?? null)
      .describe('The key is valid until this time, inclusive; null: without end'),
  })
  .superRefine(refuseWords('key', { expiresOn: 'expiresAt' }))
  .meta({ id: 'NewKey', description: 'A key to create.', examples: [{ name: 'blue' }] });
export const OfKey = InApplication.extend({ id: z.string().meta({ description: 'The id of the key' }) });

/** ServiceAccounts that an application may have at once. */
export const maxAccounts = 100;

export const BoundAccount = z
  .object({
    id: z.uuid().describe('The id of the binding'),
    namespace: z.string().describe('The namespace of the account'),
    name: z.string().describe('The name of the account'),
    createdAt: Timestamp.describe('When it was bound'),
    lastUsedAt: Timestamp.nullable().describe('When a pod last read with a token of it, to the minute; null: never'),
  })
  .meta({
    id: 'BoundAccount',
    description: 'A ServiceAccount of Kubernetes whose tokens read the application.',
    examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', namespace: 'shop', name: 'web', createdAt: '2026-03-15T12:00:00.000Z', lastUsedAt: null }],
  });
export type BoundAccount = z.output<typeof BoundAccount>;
const accountList = 'accounts';
export const AccountsQuery = z.object({
  limit: Limit,
  after: queryCursor(accountList, z.tuple([CursorName])),
});
export const accountCursor = ({ namespace, name }: BoundAccount) => encodeCursor(accountList, [`${namespace}/${name}`]);
export const BoundAccounts = z
  .object({
    items: z.array(BoundAccount).describe('The accounts, by namespace and name'),
    next: Next,
  })
  .meta({ id: 'BoundAccounts', description: 'A page of the ServiceAccounts of an application.' });

/** As Kubernetes names them: RFC 1123, section 2.1. */
const dnsName = (pattern: RegExp, max: number) => z.string().max(max).regex(pattern, { error: 'must be a name as Kubernetes has it' });
export const NewBinding = InApplication.extend({
  namespace: dnsName(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 63).meta({ description: 'The namespace of the account' }),
  account: dnsName(/^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/, 253).meta({ description: 'The name of the account' }),
});
/** A name that no account can have is not bound. */
export const OfAccount = InApplication.extend({
  namespace: Name.meta({ description: 'The namespace of the account' }),
  account: Name.meta({ description: 'The name of the account' }),
});

const NamedVersion = z.int32().min(1);
export const VersionCopy = z
  .object({
    from: EnvironmentSlug.describe('The slug of the environment whose value is copied'),
    to: EnvironmentSlug.describe('The slug of the environment that gets it as its newest version'),
    version: NamedVersion.optional().describe('The version to copy; left out: the newest'),
    expectedVersion: z.int32().min(0).optional().describe('The number of the newest version in `to`, 0 for none; with another one the answer is 409'),
  })
  .meta({ id: 'VersionCopy', description: 'A value to copy, which is shown to no one.', examples: [{ from: 'staging', to: 'production' }] });

export const ImportQuery = z.object({
  as: queryChoice(['secrets', 'configuration']).meta({ description: 'Whether its lines become secrets or configuration entries' }),
  dryRun: queryBoolean.optional().meta({ description: 'Whether it is only said what would be done' }),
});
export const ImportedItem = z
  .object({
    name: z.string().describe('The name of the secret, or the key of the entry'),
    change: z.enum(['created', 'updated', 'unchanged', 'empty']).describe('The outcome for it; an empty value is left out'),
  })
  .meta({ id: 'ImportedItem', description: 'A line of an import.', examples: [{ name: 'DB_PASSWORD', change: 'created' }] });
export type ImportedItem = z.output<typeof ImportedItem>;
export const Imported = z
  .object({ items: z.array(ImportedItem).describe('Each setting, in the order of the file') })
  .meta({ id: 'Imported', description: 'An import.' });
