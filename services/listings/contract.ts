// Everything the listing triage service says on the wire.
import { z } from 'zod';
import { isStorable } from '../platform/json.ts';
import { problems } from '../platform/problem.ts';
import { Count, text, textFor, Timestamp, TimestampInput } from '../platform/schema.ts';

export const propertyTypes = ['House', 'Apartment', 'Studio', 'Shared', 'Other'] as const;

/** Building energy ratings, best first; Exempt is worse than every other. */
export const energyGrades = ['A1', 'A2', 'A3', 'B1', 'B2', 'B3', 'C1', 'C2', 'C3', 'D1', 'D2', 'E1', 'E2', 'F', 'G', 'Exempt'] as const;
export type EnergyGrade = (typeof energyGrades)[number];

/** The grade that a text names, in any case; undefined when it names none. */
export const readGrade = (text: string): EnergyGrade | undefined => energyGrades.find((grade) => grade.toLowerCase() === text.trim().toLowerCase());

/** That grade and every better one. */
export const gradesFrom = (worst: EnergyGrade): readonly EnergyGrade[] => energyGrades.slice(0, energyGrades.indexOf(worst) + 1);

const letter = '[AC-FHKNPRTV-Y]';
const routingKeyPattern = new RegExp(`^(?:${letter}\\d{2}|D6W)$`);
const eircodePattern = new RegExp(`^(${letter}\\d{2}|D6W) ?([AC-FHKNPRTV-Y\\d]{4})$`);

/** A routing key in upper case; undefined for what is none. The pattern decides, not the list of those in use. */
export function readRoutingKey(text: string): string | undefined {
  const key = text.trim().toUpperCase();
  return routingKeyPattern.test(key) ? key : undefined;
}

/** An eircode as it is written, `D02 X285`; undefined for what is none. */
export function readEircode(text: string): string | undefined {
  const [, key, unique] = eircodePattern.exec(text.trim().toUpperCase()) ?? [];
  return key === undefined || unique === undefined ? undefined : `${key} ${unique}`;
}

/** @param written as `readEircode` returns it */
export const routingKeyOf = (written: string): string => written.slice(0, 3);

export const statuses = ['inbox', 'approved', 'recycled'] as const;
export type Status = (typeof statuses)[number];

const PropertyType = z.enum(propertyTypes, { error: `must be one of ${propertyTypes.join(', ')}` });
const Grade = z.enum(energyGrades, { error: `must be one of ${energyGrades.join(', ')}` });
export const RoutingKey = textFor(readRoutingKey, 'must be a routing key such as D02').meta({ override: { type: 'string' } });

/** A listing as callers see it: A.1 of the interface document. */
export const Property = z
  .object({
    id: z.string(),
    sourceId: z.string(),
    sourceUrl: z.string(),
    address: z.string(),
    eircode: z.string().nullable(),
    routingKey: z.string().nullable(),
    priceMonthly: z.number(),
    currency: z.string(),
    beds: Count,
    baths: Count,
    propertyType: PropertyType,
    berRating: Grade.nullable(),
    mainImageUrl: z.string().nullable(),
    latitude: z.number().nullable(),
    longitude: z.number().nullable(),
    status: z.enum(statuses),
    receivedAt: Timestamp,
    approvedAt: Timestamp.nullable(),
    recycledAt: Timestamp.nullable(),
    notes: z.string().nullable(),
  })
  .meta({
    id: 'Property',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        sourceId: '4711',
        sourceUrl: 'https://homes.example/rent/4711',
        address: '12 Quay Street, Dublin 2',
        eircode: 'D02 X285',
        routingKey: 'D02',
        priceMonthly: 2150,
        currency: 'EUR',
        beds: 2,
        baths: 1,
        propertyType: 'Apartment',
        berRating: 'B3',
        mainImageUrl: null,
        latitude: 53.3437,
        longitude: -6.2546,
        status: 'inbox',
        receivedAt: '2026-03-15T12:00:00.000Z',
        approvedAt: null,
        recycledAt: null,
        notes: null,
      },
    ],
  });
export type Property = z.output<typeof Property>;

export const PropertyPage = z
  .object({
    items: z.array(Property),
    total: Count,
    page: z
      .int()
      .min(1)
      .meta({ examples: [1] }),
    pageSize: z
      .int()
      .min(1)
      .meta({ examples: [24] }),
  })
  .meta({ id: 'PropertyPage' });
export type PropertyPage = z.output<typeof PropertyPage>;

const storable = (limits: { readonly min?: number; readonly max: number }) =>
  text(limits).refine(isStorable, { error: 'must be Unicode text without NUL characters' });
const isHttpUrl = (url: string) => /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);
const httpUrl = (max: number) => storable({ min: 1, max }).refine(isHttpUrl, { error: 'must be an absolute URL that begins with http:// or https://' });
const Notes = storable({ max: 4000 });

export const PropertyUpdate = z
  .object({
    status: z.enum(statuses, { error: `must be one of ${statuses.join(', ')}` }).optional(),
    /** null leaves them as they are, and '' empties them. */
    notes: Notes.nullish(),
  })
  .meta({ id: 'PropertyUpdate', examples: [{ status: 'approved', notes: 'Viewing on Friday' }] });
export type PropertyUpdate = z.output<typeof PropertyUpdate>;

export const bulkActions = ['approve', 'recycle', 'restore'] as const;
export type BulkAction = (typeof bulkActions)[number];
export const maxBulkIds = 500;
export const BulkUpdate = z
  .object({
    ids: z
      .array(z.guid({ error: 'must be a GUID' }), { error: 'must be an array of GUIDs' })
      .min(1, { error: 'must not be empty' })
      .max(maxBulkIds, { error: `must hold at most ${maxBulkIds} ids` }),
    action: z.enum(bulkActions, { error: `must be one of ${bulkActions.join(', ')}` }),
  })
  .meta({ id: 'BulkUpdate', examples: [{ ids: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'], action: 'approve' }] });
export const BulkResult = z.object({ updated: Count }).meta({ id: 'BulkResult', examples: [{ updated: 1 }] });

/** A price that a listing had from a time on. */
export const PriceChange = z
  .object({ priceMonthly: z.number(), currency: z.string(), changedAt: Timestamp })
  .meta({ id: 'PriceChange', examples: [{ priceMonthly: 2250, currency: 'EUR', changedAt: '2026-03-15T12:00:00.000Z' }] });
export type PriceChange = z.output<typeof PriceChange>;

/** The average and the median are of approved listings, 0 without any. */
export const Stats = z
  .object({
    inboxCount: Count,
    approvedCount: Count,
    recycledCount: Count,
    avgApprovedPrice: z.number(),
    medianApprovedPrice: z.number(),
  })
  .meta({ id: 'ListingStatistics', examples: [{ inboxCount: 41, approvedCount: 7, recycledCount: 312, avgApprovedPrice: 2075.5, medianApprovedPrice: 2100 }] });
export type Stats = z.output<typeof Stats>;

// Of PostgreSQL's integer: a bound that no listing can have is a bound all the same.
export const bounds = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;
const orNull = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);
const outOfBounds = { error: `must be between ${bounds.min} and ${bounds.max}` };
const OptionalInteger = orNull(z.int({ error: 'must be a whole number' }).min(bounds.min, outOfBounds).max(bounds.max, outOfBounds));
const Price = orNull(z.number());

/** Told together with the faults of other members, which zod by itself would tell first. */
const isObject = ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null;
/** For `refine`: the member `least` is not above the member `most`, where there are both. */
export function inOrder(least: string, most: string) {
  const isInOrder = (value: object) => {
    const [from, to] = [least, most].map((name): unknown => Object.getOwnPropertyDescriptor(value, name)?.value);
    return typeof from !== 'number' || typeof to !== 'number' || from <= to;
  };
  return [isInOrder, { path: [least], error: `must not be above ${most}`, when: isObject }] satisfies [unknown, unknown];
}

/** An array in which each entry stands once. */
const distinct = <S extends z.ZodType>(entry: S) => z.array(entry).transform((entries) => [...new Set(entries)]);

export const NewPreset = z
  .object({
    name: z
      .string({ error: 'must be a string' })
      .trim()
      .pipe(storable({ min: 1, max: 200 })),
    routingKeys: distinct(RoutingKey),
    minBeds: OptionalInteger,
    maxBeds: OptionalInteger,
    minBaths: OptionalInteger,
    minPrice: Price,
    maxPrice: Price,
    propertyTypes: distinct(PropertyType),
    berMin: orNull(Grade),
    isDefault: z
      .boolean()
      .nullish()
      .transform((value) => value ?? false),
  })
  .refine(...inOrder('minBeds', 'maxBeds'))
  .refine(...inOrder('minPrice', 'maxPrice'))
  .meta({
    id: 'NewPreset',
    examples: [{ name: 'Two beds by the canal', routingKeys: ['D02', 'D04'], minBeds: 2, maxPrice: 2400, propertyTypes: ['Apartment', 'House'], berMin: 'C1' }],
  });
export type NewPreset = z.output<typeof NewPreset>;

/** A named filter: A.3 of the interface document. At most one is the default. */
export const FilterPreset = z
  .object({
    id: z.string(),
    name: z.string(),
    routingKeys: z.array(z.string()),
    minBeds: z.int().nullable(),
    maxBeds: z.int().nullable(),
    minBaths: z.int().nullable(),
    minPrice: z.number().nullable(),
    maxPrice: z.number().nullable(),
    propertyTypes: z.array(PropertyType),
    berMin: Grade.nullable(),
    isDefault: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'FilterPreset',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        name: 'Two beds by the canal',
        routingKeys: ['D02', 'D04'],
        minBeds: 2,
        maxBeds: null,
        minBaths: null,
        minPrice: null,
        maxPrice: 2400,
        propertyTypes: ['Apartment', 'House'],
        berMin: 'C1',
        isDefault: true,
        createdAt: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type FilterPreset = z.output<typeof FilterPreset>;

/** A member that is null is as one that is not there. */
const absent = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? undefined);
const roomCount = z.int({ error: 'must be a whole number' }).min(0, { error: 'must be between 0 and 50' }).max(50, { error: 'must be between 0 and 50' });
function degrees(most: number) {
  const error = `must be between -${most} and ${most}`;
  return z.number().min(-most, { error }).max(most, { error });
}
// numeric(10,2), to the nearest cent.
const Money = z
  .number()
  .min(0, { error: 'must not be negative' })
  .max(99_999_999.99, { error: 'must be at most 99999999.99' })
  .transform((price) => Math.round(price * 100) / 100);

type Placed = { readonly latitude?: unknown; readonly longitude?: unknown };
const hasBothCoordinates = ({ latitude, longitude }: Placed) => (latitude === undefined) === (longitude === undefined);

/** What the ingest is tried with in the API description. */
export const exampleListing = {
  sourceId: '4711',
  sourceUrl: 'https://homes.example/rent/4711',
  address: '12 Quay Street, Dublin 2',
  priceMonthly: 2150,
  beds: 2,
};

/**
 * A listing on its way in, by either door. What is absent (undefined) is unknown: a new listing gets the default of it (EUR, 0 beds and baths,
 * Other, else null), a listing that is there keeps what it has.
 */
export const NewProperty = z
  .object({
    sourceId: storable({ min: 1, max: 64 }),
    sourceUrl: httpUrl(512),
    address: storable({ min: 1, max: 512 }),
    priceMonthly: Money,
    eircode: absent(textFor(readEircode, 'must be an eircode such as D02 X285').meta({ override: { type: 'string' } })),
    /** That of the eircode unless given. */
    routingKey: absent(RoutingKey),
    currency: absent(
      textFor((code) => (/^[a-z]{3}$/i.test(code) ? code.toUpperCase() : undefined), 'must be a currency code such as EUR').meta({
        override: { type: 'string' },
      }),
    ),
    beds: absent(roomCount),
    baths: absent(roomCount),
    propertyType: absent(PropertyType),
    /** An unknown grade is none. */
    berRating: absent(
      z
        .string({ error: 'must be a string' })
        .transform(readGrade)
        .meta({ override: { type: 'string' } }),
    ),
    mainImageUrl: absent(httpUrl(1024)),
    latitude: absent(degrees(90)),
    longitude: absent(degrees(180)),
    /** Now unless given. */
    receivedAt: absent(TimestampInput),
    /** Of a new listing only. */
    notes: absent(Notes),
  })
  .refine(hasBothCoordinates, { path: ['longitude'], error: 'must be given together with latitude', when: isObject })
  .transform(({ routingKey, ...rest }) => ({ ...rest, routingKey: routingKey ?? (rest.eircode === undefined ? undefined : routingKeyOf(rest.eircode)) }))
  .meta({ id: 'NewProperty', examples: [exampleListing] });
export type NewProperty = z.output<typeof NewProperty>;

export const maxIngestItems = 500;
export const Rejected = z
  .object({ index: Count, errors: z.record(z.string(), z.array(z.string())) })
  .meta({ id: 'Rejected', examples: [{ index: 3, errors: { priceMonthly: ['must not be negative'] } }] });
export type Rejected = z.output<typeof Rejected>;
/** `unchanged`: nothing but receivedAt is another. `index` counts from 0, items of an array and lines alike. */
export const IngestResult = z.object({ created: Count, updated: Count, unchanged: Count, rejected: z.array(Rejected) }).meta({ id: 'IngestResult' });
export type IngestResult = z.output<typeof IngestResult>;

/** What became of one listing that was taken in. */
export type Upserted = { readonly id: string; readonly outcome: 'created' | 'updated' | 'unchanged' };

export const mailOutcomes = ['created', 'updated', 'duplicate', 'ignored', 'failed'] as const;
/** What became of an alert mail; a repeat that changes nothing of the listing is `updated`, the same mail again is `duplicate`. */
export const MailOutcome = z
  .object({ outcome: z.enum(mailOutcomes), propertyId: z.string().optional(), reason: z.string().optional() })
  .meta({ id: 'MailOutcome', examples: [{ outcome: 'created', propertyId: '019b76da-a800-7000-8000-5f3c1e2d4a6b' }] });
export type MailOutcome = z.output<typeof MailOutcome>;

export const Problems = problems({
  propertyMissing: { status: 404, title: 'No such property' },
  presetMissing: { status: 404, title: 'No such preset' },
  tooManyRejected: { status: 400, title: 'Too many lines were rejected' },
});
