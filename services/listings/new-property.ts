// The schemas of listings on their way in: what a sender gives, and what an ingest answers.
import { z } from 'zod';
import { Count, storableText, textFor, TimestampInput } from '../platform/schema.ts';
import { exampleListing, httpUrl, isObject, Notes, PropertyType, readEircode, readGrade, RoutingKey, routingKeyOf } from './contract.ts';

/** Null counts as absent. */
const absent = <S extends z.ZodType>(schema: S, description: string) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .meta({ description });
const textOf = <T>(read: (text: string) => T | undefined, error: string) => textFor(read, error).meta({ override: { type: 'string' } });
const Eircode = textOf(readEircode, 'must be an eircode such as D02 X285');
const Currency = textOf((code) => (/^[a-z]{3}$/i.test(code) ? code.toUpperCase() : undefined), 'must be a currency code such as EUR');
const GradeText = z
  .string({ error: 'must be a string' })
  .transform(readGrade)
  .meta({ override: { type: 'string' } });
const roomCount = z.int({ error: 'must be a whole number' }).min(0, { error: 'must be between 0 and 50' }).max(50, { error: 'must be between 0 and 50' });
function degrees(most: number) {
  const error = `must be between -${most} and ${most}`;
  return z.number().min(-most, { error }).max(most, { error });
}
// Stored as numeric(10,2), rounded to the nearest cent.
const Money = z
  .number()
  .min(0, { error: 'must not be negative' })
  .max(99_999_999.99, { error: 'must be at most 99999999.99' })
  .transform((price) => Math.round(price * 100) / 100);

const hasBothCoordinates = ({ latitude, longitude }: { readonly latitude?: unknown; readonly longitude?: unknown }) =>
  (latitude === undefined) === (longitude === undefined);

/**
 * A listing of the JSON ingest or of an alert mail. An absent member (undefined) is unknown: a new listing gets its default (EUR, 0 beds and baths,
 * Other, else null), a known listing keeps its value.
 */
export const NewProperty = z
  .object({
    sourceId: storableText({ min: 1, max: 64 }).meta({ description: 'The id of the listing at its origin; a repeat updates the listing' }),
    sourceUrl: httpUrl(512).meta({ description: 'The http or https address of the original listing' }),
    address: storableText({ min: 1, max: 512 }).meta({ description: 'The postal address' }),
    priceMonthly: Money.meta({ description: 'The rent for a month, rounded to cents' }),
    eircode: absent(Eircode, 'The postal code'),
    routingKey: absent(RoutingKey, 'The first three characters of the postal code; default: those of `eircode`'),
    currency: absent(Currency, 'The currency, ISO 4217; default: EUR'),
    beds: absent(roomCount, 'How many bedrooms; default: 0'),
    baths: absent(roomCount, 'How many bathrooms; default: 0'),
    propertyType: absent(PropertyType, 'The kind of property; default: Other'),
    berRating: absent(GradeText, 'The building energy rating; an unknown one counts as absent'),
    mainImageUrl: absent(httpUrl(1024), 'The http or https address of a picture'),
    latitude: absent(degrees(90), 'Degrees north, given together with `longitude`'),
    longitude: absent(degrees(180), 'Degrees east, given together with `latitude`'),
    receivedAt: absent(TimestampInput, 'When the listing came in; default: now'),
    notes: absent(Notes, 'The notes; stored with a new listing only'),
    withdrawn: absent(z.boolean(), 'Whether the listing is no longer on offer; a repeat without it is on offer again. Default: false'),
  })
  .refine(hasBothCoordinates, { path: ['longitude'], error: 'must be given together with latitude', when: isObject })
  .transform(({ routingKey, ...rest }) => ({ ...rest, routingKey: routingKey ?? (rest.eircode === undefined ? undefined : routingKeyOf(rest.eircode)) }))
  .meta({ id: 'NewProperty', description: 'A listing as a sender gives it', examples: [exampleListing] });
export type NewProperty = z.output<typeof NewProperty>;

export const maxIngestItems = 500;
export const Rejected = z
  .object({
    index: Count.meta({ description: 'The position of the listing, from 0; the index of the item or of the line' }),
    errors: z.record(z.string(), z.array(z.string())).meta({ description: 'The faults by member' }),
  })
  .meta({
    id: 'Rejected',
    description: 'A listing that was not stored, and why',
    examples: [{ index: 3, errors: { priceMonthly: ['must not be negative'] } }],
  });
export type Rejected = z.output<typeof Rejected>;
export const IngestResult = z
  .object({
    created: Count.meta({ description: 'How many listings are new' }),
    updated: Count.meta({ description: 'How many listings changed' }),
    unchanged: Count.meta({ description: 'How many listings changed in nothing but `receivedAt`' }),
    rejected: z.array(Rejected).meta({ description: 'The listings that were not stored' }),
  })
  .meta({ id: 'IngestResult', description: 'The outcome of an ingest' });
export type IngestResult = z.output<typeof IngestResult>;

/** The outcome of one listing. */
export type Upserted = { readonly id: string; readonly outcome: 'created' | 'updated' | 'unchanged' };
