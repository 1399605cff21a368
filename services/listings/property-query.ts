// The query parameters of listings: filters, order, page and cursor.
import { z } from 'zod';
import { storable } from '../platform/json.ts';
import {
  cursorTime,
  encodeCursor,
  queryBoolean,
  queryChoice,
  queryCursor,
  queryInteger,
  queryList,
  queryNumber,
  readNumber,
  textFor,
  TimestampInput,
} from '../platform/schema.ts';
import { bounds, Grade, inOrder, type Property, PropertyStatus, PropertyType, RoutingKey } from './contract.ts';

const bound = queryInteger(bounds);
const decimal = queryNumber.optional();

export type Box = { readonly west: number; readonly south: number; readonly east: number; readonly north: number };

function readBox(text: string): Box | undefined {
  const numbers = text.split(',').map((part) => readNumber(part.trim()));
  const [west = NaN, south = NaN, east = NaN, north = NaN] = numbers;
  const isBox = numbers.length === 4 && Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90 && south <= north;
  return isBox ? { west, south, east, north } : undefined;
}

const inBox = 'Within this box: west,south,east,north in degrees; across the date line where west is above east';
export const BoxQuery = textFor(readBox, 'must be west,south,east,north in degrees: longitudes -180 to 180, latitudes -90 to 90, south not above north').meta({
  override: { type: 'string', examples: ['-6.4,53.2,-6.1,53.4'] },
  description: inBox,
});

const PropertyFilters = z.object({
  status: queryChoice(PropertyStatus).optional().meta({ description: 'The status of the listings; default: any' }),
  search: z
    .string()
    .transform((text) => storable(text.trim()) || undefined)
    .optional()
    .meta({ override: { type: 'string' }, description: 'A part of the address or of the notes, whatever the case and the accents' }),
  routingKeys: queryList(RoutingKey).meta({ description: 'Routing keys, any of which matches' }),
  minBeds: bound.meta({ description: 'At least so many bedrooms' }),
  maxBeds: bound.meta({ description: 'At most so many bedrooms' }),
  minBaths: bound.meta({ description: 'At least so many bathrooms' }),
  minPrice: decimal.meta({ description: 'Not below this rent a month' }),
  maxPrice: decimal.meta({ description: 'Not above this rent a month' }),
  propertyTypes: queryList(queryChoice(PropertyType)).meta({ description: 'Property types, any of which matches' }),
  berMin: queryChoice(Grade).optional().meta({ description: 'This energy rating or a better one' }),
  receivedFrom: TimestampInput.optional().meta({ description: 'Received at this time or later' }),
  receivedTo: TimestampInput.optional().meta({ description: 'Received at this time or earlier' }),
  bbox: BoxQuery.optional().meta({ description: inBox }),
  priceDropped: queryBoolean.optional().meta({ description: 'Only those whose last change of rent lowered it, or only the others' }),
  withdrawn: queryBoolean.optional().meta({ description: 'Only those that are no longer on offer, or only the others' }),
});
export type PropertyFilter = z.output<typeof PropertyFilters>;

const areReceivedInOrder = ({ receivedFrom, receivedTo }: Pick<PropertyFilter, 'receivedFrom' | 'receivedTo'>) =>
  !receivedFrom || !receivedTo || receivedFrom <= receivedTo;
const receivedOutOfOrder = { path: ['receivedFrom'], error: 'must not be later than receivedTo' };

/** The filters of a list and more, with the order of their bounds checked. */
const filteredBy = <Shape extends z.core.$ZodLooseShape>(more: Shape) =>
  PropertyFilters.extend(more)
    .refine(...inOrder('minBeds', 'maxBeds'))
    .refine(...inOrder('minPrice', 'maxPrice'));

/** The filters alone, for numbers of the listings that they leave. */
export const OverviewQuery = filteredBy({}).refine(areReceivedInOrder, receivedOutOfOrder);
export const MapQuery = filteredBy({ bbox: BoxQuery }).refine(areReceivedInOrder, receivedOutOfOrder);
export const HistogramQuery = filteredBy({
  buckets: queryInteger({ min: 1, max: 100, default: 20 }).meta({ description: 'How many ranges of rents there are at most' }),
}).refine(areReceivedInOrder, receivedOutOfOrder);

const Included = z.enum(['price', 'withdrawal', 'duplicates']).meta({ id: 'Included', description: 'An addition to a listing' });
export const Include = queryList(queryChoice(Included)).meta({
  description:
    '`price` adds the rent before the last change: `previousPrice`, `priceChangedAt`; `withdrawal` adds `withdrawnAt`; `duplicates` adds other listings of the same flat',
});

const sorts = ['receivedAt', 'price', 'beds', 'approvedAt'] as const;
const directions = ['asc', 'desc'] as const;
const direction = z.enum(directions);
/** The sort keys of the last listing of a page. */
const Position = z
  .union([
    z.tuple([z.literal('receivedAt'), direction, cursorTime, z.guid()]),
    z.tuple([z.literal('approvedAt'), direction, cursorTime.nullable(), z.guid()]),
    z.tuple([z.literal('price'), direction, z.number(), z.guid()]),
    z.tuple([z.literal('beds'), direction, z.int().min(bounds.min).max(bounds.max), z.guid()]),
  ])
  .transform(([sortBy, sortDir, value, id]) => ({ sortBy, sortDir, value, id }));
export type Position = z.output<typeof Position>;

const list = 'properties';
/** The member of a listing that each order goes by. */
export const sortMembers = { receivedAt: 'receivedAt', price: 'priceMonthly', beds: 'beds', approvedAt: 'approvedAt' } as const;

/** The cursor behind a listing. */
export function cursorAfter(listing: Property, { sortBy, sortDir }: Pick<PropertyQuery, 'sortBy' | 'sortDir'>): string {
  const value = listing[sortMembers[sortBy]];
  return encodeCursor(list, [sortBy, sortDir, value instanceof Date ? value.getTime() : value, listing.id]);
}

export const PropertyQuery = filteredBy({
  status: queryChoice(PropertyStatus).meta({ description: 'The status of the listings; required' }),
  page: queryInteger({ min: 1, max: 999_999_999_999_999, default: 1 }).meta({ description: 'Which page' }),
  pageSize: queryInteger({ min: 1, max: 100, default: 24 }).meta({ description: 'How many are on a page' }),
  limit: queryInteger({ min: 1, max: 100 }).meta({ description: 'How many are on a page that leads on by `next`; default: `pageSize`' }),
  after: queryCursor(list, Position),
  include: Include,
  total: queryBoolean.default(true).meta({ description: 'Whether all that match are counted; default: true' }),
  sortBy: queryChoice(sorts).default('receivedAt').meta({ description: 'The member that orders the list' }),
  sortDir: queryChoice(directions).default('desc').meta({ description: 'Ascending or descending' }),
})
  .refine(areReceivedInOrder, receivedOutOfOrder)
  .refine(({ after, sortBy, sortDir }) => !after || (after.sortBy === sortBy && after.sortDir === sortDir), {
    path: ['after'],
    error: 'must be the `next` of another page of this list, in the same order',
  });
export type PropertyQuery = z.output<typeof PropertyQuery>;
export type PropertyOrder = Pick<PropertyQuery, 'sortBy' | 'sortDir' | 'include' | 'after'> & {
  /** Rows that are left out, from the start of the list or from the cursor. */
  readonly offset: number;
  readonly rows: number;
};
