// The schemas of presets.
import { z } from 'zod';
import { Count, Id, Timestamp, trimmedText } from '../../platform/schema.ts';
import { bounds, Grade, inOrder, PropertyType, RoutingKey } from '../contract.ts';

const orNull = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);
const outOfBounds = { error: `must be between ${bounds.min} and ${bounds.max}` };
const OptionalInteger = orNull(z.int({ error: 'must be a whole number' }).min(bounds.min, outOfBounds).max(bounds.max, outOfBounds));
const Price = orNull(z.number());

const examplePreset = {
  name: 'Two beds by the canal',
  routingKeys: ['D02', 'D04'],
  minBeds: 2,
  maxPrice: 2400,
  propertyTypes: ['Apartment', 'House'],
  berMin: 'C1',
};

/** An array in which each entry stands once. */
const distinct = <S extends z.ZodType>(entry: S) => z.array(entry).transform((entries) => [...new Set(entries)]);

export const NewPreset = z
  .object({
    name: trimmedText({ min: 1, max: 200 }).meta({ description: 'The name, 1 to 200 characters; several presets may share one' }),
    routingKeys: distinct(RoutingKey).meta({ description: 'Routing keys, each once; none means all' }),
    minBeds: OptionalInteger.meta({ description: 'The least number of bedrooms, or null' }),
    maxBeds: OptionalInteger.meta({ description: 'The largest number of bedrooms, or null' }),
    minBaths: OptionalInteger.meta({ description: 'The least number of bathrooms, or null' }),
    minPrice: Price.meta({ description: 'The lowest rent for a month, or null' }),
    maxPrice: Price.meta({ description: 'The highest rent for a month, or null' }),
    propertyTypes: distinct(PropertyType).meta({ description: 'Property types, each once; none means all' }),
    berMin: orNull(Grade).meta({ description: 'The worst building energy rating, or null' }),
    isDefault: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false)
      .meta({ description: 'Whether clients apply this preset by default; it replaces the former default' }),
  })
  .refine(...inOrder('minBeds', 'maxBeds'))
  .refine(...inOrder('minPrice', 'maxPrice'))
  .meta({
    id: 'NewPreset',
    description: 'A preset to store',
    examples: [examplePreset],
  });
export type NewPreset = z.output<typeof NewPreset>;

/** A named filter: A.3 of the interface document. At most one is the default. */
export const FilterPreset = z
  .object({
    id: Id('The id of the preset'),
    name: z.string().meta({ description: 'The name; several presets may share one' }),
    routingKeys: z.array(z.string()).meta({ description: 'Routing keys; none means all' }),
    minBeds: z.int().nullable().meta({ description: 'The least number of bedrooms, or null' }),
    maxBeds: z.int().nullable().meta({ description: 'The largest number of bedrooms, or null' }),
    minBaths: z.int().nullable().meta({ description: 'The least number of bathrooms, or null' }),
    minPrice: z.number().nullable().meta({ description: 'The lowest rent for a month, or null' }),
    maxPrice: z.number().nullable().meta({ description: 'The highest rent for a month, or null' }),
    propertyTypes: z.array(PropertyType).meta({ description: 'Property types; none means all' }),
    berMin: Grade.nullable().meta({ description: 'The worst building energy rating, or null' }),
    isDefault: z.boolean().meta({ description: 'Whether clients apply this preset by default' }),
    createdAt: Timestamp.meta({ description: 'When the preset was created' }),
  })
  .meta({
    id: 'FilterPreset',
    description: 'A named filter of listings; at most one is the default',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        ...examplePreset,
        maxBeds: null,
        minBaths: null,
        minPrice: null,
        isDefault: true,
        createdAt: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type FilterPreset = z.output<typeof FilterPreset>;

/** More presets are not counted, and more listings of one are not. */
export const mostCounted = { presets: 50, listings: 1000 } as const;

/** How many listings wait that a preset leaves. */
export const PresetCount = z
  .object({
    id: Id('The id of the preset'),
    count: Count.meta({ description: `How many listings of the inbox it leaves, ${mostCounted.listings} at most` }),
  })
  .meta({
    id: 'PresetCount',
    description: 'A preset and how many listings wait that it leaves',
    examples: [{ id: '0197b1a2-3c4d-7e5f-8a9b-0c1d2e3f4a5b', count: 12 }],
  });
export type PresetCount = z.output<typeof PresetCount>;
