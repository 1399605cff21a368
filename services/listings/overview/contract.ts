// The schemas of overviews: a map, counts and rents of the listings that filters leave.
import { z } from 'zod';
import { Count, Id, Timestamp } from '../../platform/schema.ts';
import { Grade, PropertyStatus, PropertyType } from '../contract.ts';

/** An overview looks at so many listings, the last received first, so that its cost does not grow with all. */
export const mostLookedAt = 10_000;

const lookedAt = {
  counted: Count.meta({ description: `How many listings were counted, ${mostLookedAt} at most: the last received` }),
  from: Timestamp.nullable().meta({ description: 'When the oldest listing that was looked at was received; null where all were looked at', examples: [null] }),
};
const Rent = (description: string) => z.number().meta({ description, examples: [1850] });

const Cluster = z
  .object({
    count: Count.meta({ description: 'How many listings are here' }),
    latitude: z.number().meta({ description: 'Degrees north of their centre', examples: [53.3437] }),
    longitude: z.number().meta({ description: 'Degrees east of their centre', examples: [-6.2546] }),
    minPrice: Rent('The lowest rent for a month'),
    medianPrice: Rent('The median rent for a month'),
    address: z.string().meta({ description: 'The address of the listing with the lowest rent', examples: ['1 Main Street, Dublin 2'] }),
    currency: z.string().meta({ description: 'The currency of the lowest rent (ISO 4217)', examples: ['EUR'] }),
    id: Id('').nullable().meta({ description: 'The id of the listing where there is one; null where there are several' }),
  })
  .meta({
    id: 'MapCluster',
    description: 'Listings near one another',
    examples: [
      { count: 7, latitude: 53.3437, longitude: -6.2546, minPrice: 1450, medianPrice: 1900, address: '1 Main Street, Dublin 2', currency: 'EUR', id: null },
    ],
  });
export const PropertyMap = z
  .object({ ...lookedAt, clusters: z.array(Cluster).meta({ description: 'The clusters, at most 289, the largest first' }) })
  .meta({ id: 'PropertyMap', description: 'The listings of a box, as clusters' });
export type PropertyMap = z.output<typeof PropertyMap>;

const counts = <Value extends z.ZodType>(id: string, value: Value, description: string) =>
  z
    .array(
      z.object({ value, count: Count.meta({ description: 'How many listings have it' }) }).meta({ id, description: 'A value and how many listings have it' }),
    )
    .meta({ description });
export const PropertyFacets = z
  .object({
    ...lookedAt,
    facets: z
      .object({
        status: counts('StatusCount', PropertyStatus, 'By status'),
        propertyType: counts('TypeCount', PropertyType, 'By property type'),
        berRating: counts('GradeCount', Grade, 'By energy rating; listings without one are in none'),
        routingKey: z
          .array(
            z
              .object({
                value: z.string().meta({ description: 'A routing key', examples: ['D02'] }),
                count: Count.meta({ description: 'How many listings have it' }),
                medianPrice: Rent('Their median rent for a month'),
              })
              .meta({ id: 'RoutingKeyCount', description: 'A routing key, how many listings have it and what they cost' }),
          )
          .meta({ description: 'By routing key, the 200 most frequent' }),
        beds: counts('BedsCount', Count.meta({ description: 'A number of bedrooms', examples: [2] }), 'By number of bedrooms'),
      })
      .meta({ id: 'PropertyFacetCounts', description: 'The values of each member, the most frequent first' }),
  })
  .meta({ id: 'PropertyFacets', description: 'Counts of listings by their members' });
export type PropertyFacets = z.output<typeof PropertyFacets>;

const Bucket = z
  .object({
    from: Rent('The lowest rent of the range'),
    below: Rent('The end of the range, which is not in it'),
    count: Count.meta({ description: 'How many listings have such a rent' }),
  })
  .meta({ id: 'PriceBucket', description: 'A range of rents and how many listings are in it', examples: [{ from: 1800, below: 1900, count: 12 }] });
export const PriceHistogram = z
  .object({
    ...lookedAt,
    medianPrice: z
      .number()
      .nullable()
      .meta({ description: 'The median rent, or null without a listing', examples: [1850] }),
    buckets: z.array(Bucket).meta({ description: 'All ranges from the lowest rent to the highest, empty ones too; each is as wide as the others' }),
  })
  .meta({ id: 'PriceHistogram', description: 'How many listings there are by rent' });
export type PriceHistogram = z.output<typeof PriceHistogram>;
