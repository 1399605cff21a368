// The schemas of the consumer plane of the secrets service.
import { z } from 'zod';
import { queryBoolean, queryCursor, queryInteger, Timestamp } from '../../platform/schema.ts';
import { CursorName, theKey, theName } from '../contract.ts';

/** Path parameters of the consumer plane, where a name that matches none is the uniform 404. */
export const ByName = z.object({ name: z.string().meta(theName) });
export const ByKey = z.object({ key: z.string().meta(theKey) });
/** Optional only to the parser, as the consumer plane checks the key before the query. */
export const InQuery = z.object({
  environment: z
    .string()
    .optional()
    .meta({ description: 'The slug of the environment', param: { required: true } }),
});

/** The name of this list in its cursors. */
export const secretList = 'consumer-secrets';
export const InList = InQuery.extend({
  values: queryBoolean.optional().meta({ description: 'Whether the values are listed as well' }),
  limit: queryInteger({ min: 1, max: 200, default: 200 }).meta({ description: 'How many secrets; with values a page ends earlier once they are 2 MiB' }),
  after: queryCursor(secretList, z.tuple([CursorName])),
});

/** A version of a secret, as applications see it. */
export const SecretProperties = z
  .object({
    enabled: z.boolean().describe('Always true: a disabled version is not served'),
    expiresOn: Timestamp.nullable().describe('The version is served until this time, inclusive; null: without end'),
    notBefore: Timestamp.nullable().describe('The version is served from this time, inclusive'),
    version: z.int32().min(1).describe('The number of the version'),
    createdOn: Timestamp.describe('When the version was created'),
    updatedOn: Timestamp.nullable().describe('Always null: the value of a version never changes'),
    /** Absent where the environment has the version itself. */
    inheritedFrom: z.string().describe('The slug of the environment that the version was inherited from').optional(),
  })
  .meta({ id: 'SecretProperties', description: 'Facts of the version.' });
export type SecretProperties = z.output<typeof SecretProperties>;

export const ConsumerSecret = z
  .object({
    name: z.string().describe('The name of the secret'),
    value: z.string().describe('The value of the version'),
    properties: SecretProperties,
  })
  .meta({
    id: 'ReadSecret',
    description: 'The newest active version of a secret, in the shape of a common cloud vault.',
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
          updatedOn: null,
        },
      },
    ],
  });
export type ConsumerSecret = z.output<typeof ConsumerSecret>;

const exampleProperties = { enabled: true, expiresOn: null, notBefore: null, version: 2, createdOn: '2026-03-15T12:00:00.000Z', updatedOn: null };
export const ConsumerSecrets = z
  .object({
    items: z
      .array(
        ConsumerSecret.partial({ value: true }).meta({
          id: 'ListedSecret',
          description: 'A secret that is served in the environment; its value only where values were asked for.',
          examples: [{ name: 'database-password', properties: exampleProperties }],
        }),
      )
      .describe('The secrets with an active version, by name'),
    next: z.string().nullable().describe('The cursor of the next page, for `after`; null on the last page'),
  })
  .meta({
    id: 'ReadSecrets',
    description: 'A page of the secrets of an environment.',
    examples: [{ items: [{ name: 'database-password', properties: exampleProperties }], next: null }],
  });
export type ConsumerSecrets = z.output<typeof ConsumerSecrets>;

export const ConsumerConfiguration = z
  .object({
    key: z.string().describe('The key of the entry'),
    value: z.string().describe('The value of the entry'),
    label: z.string().describe('The slug of the environment'),
    /** Absent where the environment has the entry itself. */
    inheritedFrom: z.string().describe('The slug of the environment that the entry was inherited from').optional(),
  })
  .meta({ id: 'ReadConfiguration', description: 'A configuration entry.', examples: [{ key: 'features/checkout', value: 'on', label: 'production' }] });
export type ConsumerConfiguration = z.output<typeof ConsumerConfiguration>;
export const ConsumerConfigurations = z
  .object({ items: z.array(ConsumerConfiguration).describe('The entries, by key') })
  .meta({ id: 'ReadConfigurations', description: 'All configuration entries of an environment.' });
