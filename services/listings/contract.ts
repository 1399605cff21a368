// The listing triage service's schemas and problems.
import { z } from 'zod';
import { memberAt } from '../platform/json.ts';
import { problems } from '../platform/problem.ts';
import { Count, Id, storableText, textFor, Timestamp } from '../platform/schema.ts';

export const propertyTypes = ['House', 'Apartment', 'Studio', 'Shared', 'Other'] as const;

/** Building energy ratings, best first; Exempt is worse than every other. */
export const energyGrades = ['A1', 'A2', 'A3', 'B1', 'B2', 'B3', 'C1', 'C2', 'C3', 'D1', 'D2', 'E1', 'E2', 'F', 'G', 'Exempt'] as const;
export type EnergyGrade = (typeof energyGrades)[number];

/** The grade that a text names, in any case; undefined for any other text. */
export const readGrade = (text: string): EnergyGrade | undefined => energyGrades.find((grade) => grade.toLowerCase() === text.trim().toLowerCase());

/** That grade and every better one. */
export const gradesFrom = (worst: EnergyGrade): readonly EnergyGrade[] => energyGrades.slice(0, energyGrades.indexOf(worst) + 1);

const routingKeyPattern = /^(?:[AC-FHKNPRTV-Y]\d{2}|D6W)$/;
const eircodePattern = /^([AC-FHKNPRTV-Y]\d{2}|D6W) ?([AC-FHKNPRTV-Y\d]{4})$/;

/** A routing key in upper case; undefined for any other text. The pattern decides, not the list of keys in use. */
export function readRoutingKey(text: string): string | undefined {
  const key = text.trim().toUpperCase();
  return routingKeyPattern.test(key) ? key : undefined;
}

/** An eircode in its written form, `D02 X285`; undefined for any other text. */
export function readEircode(text: string): string | undefined {
  const [, key, unique] = eircodePattern.exec(text.trim().toUpperCase()) ?? [];
  return key === undefined || unique === undefined ? undefined : `${key} ${unique}`;
}

/** @param written as `readEircode` returns it */
export const routingKeyOf = (written: string): string => written.slice(0, 3);

export const statuses = ['inbox', 'approved', 'recycled'] as const;
export type Status = (typeof statuses)[number];

export const PropertyType = z
  .enum(propertyTypes, { error: `must be one of ${propertyTypes.join(', ')}` })
  .meta({ id: 'PropertyType', description: 'The kind of property', examples: ['Apartment'] });
export const Grade = z
  .enum(energyGrades, { error: `must be one of ${energyGrades.join(', ')}` })
  .meta({ id: 'EnergyGrade', description: 'A building energy rating, best first', examples: ['B3'] });
export const PropertyStatus = z
  .enum(statuses, { error: `must be one of ${statuses.join(', ')}` })
  .meta({ id: 'PropertyStatus', description: 'The decision on a listing', examples: ['inbox'] });
const Uri = (description: string) => z.string().meta({ override: { format: 'uri' }, description });
const said = (description: string) => z.string().meta({ description });
const saidOrNull = (description: string) => z.string().nullable().meta({ description });
export const RoutingKey = textFor(readRoutingKey, 'must be a routing key such as D02').meta({ override: { type: 'string' } });

/** The example of the ingest in the API description. */
export const exampleListing = {
  sourceId: '4711',
  sourceUrl: 'https://homes.example/rent/4711',
  address: '12 Quay Street, Dublin 2',
  priceMonthly: 2150,
  beds: 2,
};

/** Another listing of the same flat, such as that of another portal. */
export const Duplicate = z
  .object({
    id: Id('The id of the other listing'),
    sourceUrl: Uri('The address of the original listing'),
    address: said('The postal address as it is written there'),
    priceMonthly: z.number().meta({ description: 'The rent for a month there' }),
    currency: said('The currency of the rent, ISO 4217'),
    status: PropertyStatus,
    receivedAt: Timestamp.meta({ description: 'When the other listing last came in' }),
  })
  .meta({
    id: 'Duplicate',
    description: 'Another listing of the same flat',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6c',
        sourceUrl: 'https://flats.example/4242',
        address: 'No. 12 Quay St., Dublin 2',
        priceMonthly: 2175,
        currency: 'EUR',
        status: 'inbox',
        receivedAt: '2026-03-14T12:00:00.000Z',
      },
    ],
  });
export type Duplicate = z.output<typeof Duplicate>;

export const exampleProperty = {
  id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
  ...exampleListing,
  eircode: 'D02 X285',
  routingKey: 'D02',
  currency: 'EUR',
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
};

/** A listing as callers see it: A.1 of the interface document. */
export const Property = z
  .object({
    id: Id('The id of the listing'),
    sourceId: said('The id of the listing at its origin'),
    sourceUrl: Uri('The address of the original listing'),
    address: said('The postal address'),
    eircode: saidOrNull('The postal code, or null when it is unknown'),
    routingKey: saidOrNull('The first three characters of the postal code, or null'),
    priceMonthly: z.number().meta({ description: 'The rent for a month' }),
    currency: said('The currency of the rent, ISO 4217'),
    beds: Count.meta({ description: 'How many bedrooms; 0 when the number is unknown' }),
    baths: Count.meta({ description: 'How many bathrooms; 0 when the number is unknown' }),
    propertyType: PropertyType,
    berRating: Grade.nullable().meta({ description: 'The building energy rating, or null' }),
    mainImageUrl: Uri('').nullable().meta({ description: 'The address of a picture, or null' }),
    latitude: z.number().nullable().meta({ description: 'Degrees north, or null until the geocoder has found the address' }),
    longitude: z.number().nullable().meta({ description: 'Degrees east, or null' }),
    status: PropertyStatus,
    receivedAt: Timestamp.meta({ description: 'When the listing last came in' }),
    approvedAt: Timestamp.nullable().meta({ description: 'When the listing was approved, or null' }),
    recycledAt: Timestamp.nullable().meta({ description: 'When the listing was recycled, or null' }),
    notes: saidOrNull('The notes, or null'),
    previousPrice: z
      .exactOptional(z.number().nullable())
      .meta({ description: 'With `include=price`: the rent before the last change; null where it never changed' }),
    priceChangedAt: z.exactOptional(Timestamp.nullable()).meta({ description: 'With `include=price`: when the rent last changed; null where it never did' }),
    withdrawnAt: z
      .exactOptional(Timestamp.nullable())
      .meta({ description: 'With `include=withdrawal`: when the listing was withdrawn; null while it is on offer' }),
    duplicates: z
      .exactOptional(z.array(Duplicate))
      .meta({ description: 'With `include=duplicates`: up to 20 other listings of the same flat, the last received first' }),
  })
  .meta({
    id: 'Property',
    description: 'A listing of a property to rent',
    examples: [exampleProperty],
  });
export type Property = z.output<typeof Property>;

const positive = (description: string, example: number) =>
  z
    .int()
    .min(1)
    .meta({ description, examples: [example] });
export const PropertyPage = z
  .object({
    items: z.array(Property).meta({ description: 'The listings of the page' }),
    total: z.exactOptional(Count).meta({ description: 'How many listings match, on all pages; absent with `total=false`', examples: [12] }),
    page: positive('The number of the page, from 1; with `after` counted from there', 1),
    pageSize: positive('How many listings a page holds at most', 24),
    next: z
      .exactOptional(z.string().nullable())
      .meta({ description: 'With `limit` or `after`: the `after` of the next page; null on the last one', examples: ['WyJwcm9wZXJ0aWVzIiwicHJpY2UiXQ'] }),
  })
  .meta({ id: 'PropertyPage', description: 'A page of listings' });

const isHttpUrl = (url: string) => /^https?:\/\/\S+$/i.test(url) && URL.canParse(url);
export const httpUrl = (max: number) =>
  storableText({ min: 1, max }).refine(isHttpUrl, { error: 'must be an absolute URL that begins with http:// or https://' });
export const Notes = storableText({ max: 4000 });

export const PropertyUpdate = z
  .object({
    status: PropertyStatus.optional().meta({ description: 'The decision; without it the status stays' }),
    notes: Notes.nullish().meta({ description: 'The notes; null or none leaves them, the empty text empties them' }),
  })
  .meta({ id: 'PropertyUpdate', description: 'A change of status, notes or both', examples: [{ status: 'approved', notes: 'Viewing on Friday' }] });
export type PropertyUpdate = z.output<typeof PropertyUpdate>;

export const bulkActions = ['approve', 'recycle', 'restore'] as const;
export type BulkAction = (typeof bulkActions)[number];
export const maxBulkIds = 500;
export const BulkUpdate = z
  .object({
    ids: z
      .array(z.guid({ error: 'must be a GUID' }), { error: 'must be an array of GUIDs' })
      .min(1, { error: 'must not be empty' })
      .max(maxBulkIds, { error: `must hold at most ${maxBulkIds} ids` })
      .meta({ description: 'The ids of the listings; unknown ones and repeats are ignored' }),
    action: z
      .enum(bulkActions, { error: `must be one of ${bulkActions.join(', ')}` })
      .meta({ id: 'BulkAction', description: 'The decision on all of them', examples: ['approve'] }),
  })
  .meta({
    id: 'BulkUpdate',
    description: 'One decision on several listings',
    examples: [{ ids: ['019b76da-a800-7000-8000-5f3c1e2d4a6b'], action: 'approve' }],
  });
export const BulkResult = z
  .object({ updated: Count.meta({ description: 'How many listings had another status' }) })
  .meta({ id: 'BulkResult', description: 'The effect of a decision on several listings', examples: [{ updated: 1 }] });

/** A price that a listing had from a time on. */
export const PriceChange = z
  .object({
    priceMonthly: z.number().meta({ description: 'The rent for a month' }),
    currency: said('The currency of the rent, ISO 4217'),
    changedAt: Timestamp.meta({ description: 'When the price was first seen' }),
  })
  .meta({
    id: 'PriceChange',
    description: 'A price and when it began',
    examples: [{ priceMonthly: 2250, currency: 'EUR', changedAt: '2026-03-15T12:00:00.000Z' }],
  });
export type PriceChange = z.output<typeof PriceChange>;

/** The average and the median are of approved listings, 0 without any. */
export const Stats = z
  .object({
    inboxCount: Count.meta({ description: 'How many listings wait for a decision' }),
    approvedCount: Count.meta({ description: 'How many listings are approved' }),
    recycledCount: Count.meta({ description: 'How many listings are recycled' }),
    avgApprovedPrice: z.number().meta({ description: 'The average rent of approved listings, 0 without any' }),
    medianApprovedPrice: z.number().meta({ description: 'The median rent of approved listings, 0 without any' }),
  })
  .meta({
    id: 'ListingStatistics',
    description: 'Numbers of listings, and rents of the approved ones',
    examples: [{ inboxCount: 41, approvedCount: 7, recycledCount: 312, avgApprovedPrice: 2075.5, medianApprovedPrice: 2100 }],
  });
export type Stats = z.output<typeof Stats>;

// The range of PostgreSQL's integer. A bound outside of what listings can have is valid.
export const bounds = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;

/** Lets a refinement run although other members have faults, so that all faults are reported at once. */
export const isObject = ({ value }: { readonly value: unknown }) => typeof value === 'object' && value !== null;
/** Arguments of `refine`: the member `least` is not above the member `most`, where both are given. */
export function inOrder(least: string, most: string) {
  const isInOrder = (value: object) => {
    const [from, to] = [least, most].map((name) => memberAt(value, name));
    return typeof from !== 'number' || typeof to !== 'number' || from <= to;
  };
  return [isInOrder, { path: [least], error: `must not be above ${most}`, when: isObject }] satisfies [unknown, unknown];
}

export const Problems = problems({
  propertyMissing: { status: 404, title: 'No such property' },
  presetMissing: { status: 404, title: 'No such preset' },
  tooManyRejected: { status: 400, title: 'Too many lines were rejected' },
});
