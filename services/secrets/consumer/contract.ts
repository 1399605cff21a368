// The schemas of the consumer plane of the secrets service.
import { z } from 'zod';
import { Timestamp } from '../../platform/schema.ts';
import { theKey, theName } from '../contract.ts';

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

export const ConsumerSecret = z
  .object({
    name: z.string().describe('The name of the secret'),
    value: z.string().describe('The value of the version'),
    properties: z
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
      .meta({ id: 'SecretProperties', description: 'Facts of the version.' }),
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
