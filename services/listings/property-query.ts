// The query parameters of a list of listings: filters, order and page.
import { z } from 'zod';
import { storable } from '../platform/json.ts';
import { queryBoolean, queryChoice, queryInteger, queryList, queryNumber, readNumber, textFor, TimestampInput } from '../platform/schema.ts';
import { bounds, Grade, inOrder, PropertyStatus, PropertyType, RoutingKey } from './contract.ts';

const bound = queryInteger(bounds);
const decimal = queryNumber.optional();

export type Box = { readonly west: number; readonly south: number; readonly east: number; readonly north: number };

function readBox(text: string): Box | undefined {
  const numbers = text.split(',').map((part) => readNumber(part.trim()));
  const [west = NaN, south = NaN, east = NaN, north = NaN] = numbers;
  const isBox = numbers.length === 4 && Math.abs(west) <= 180 && Math.abs(east) <= 180 && south >= -90 && north <= 90 && south <= north;
  return isBox ? { west, south, east, north } : undefined;
}

export const PropertyQuery = z
  .object({
    status: queryChoice(PropertyStatus).meta({ description: 'The status of the listings; required' }),
    page: queryInteger({ min: 1, max: 999_999_999_999_999, default: 1 }).meta({ description: 'Which page' }),
    pageSize: queryInteger({ min: 1, max: 100, default: 24 }).meta({ description: 'How many are on a page' }),
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
    bbox: textFor(readBox, 'must be west,south,east,north in degrees: longitudes -180 to 180, latitudes -90 to 90, south not above north')
      .optional()
      .meta({
        override: { type: 'string', examples: ['-6.4,53.2,-6.1,53.4'] },
        description: 'Within this box: west,south,east,north in degrees; across the date line where west is above east',
      }),
    priceDropped: queryBoolean.optional().meta({ description: 'Only those whose last change of rent lowered it, or only the others' }),
    include: queryList(queryChoice(['price'])).meta({ description: '`price` adds the rent before the last change: `previousPrice`, `priceChangedAt`' }),
    total: queryBoolean.default(true).meta({ description: 'Whether all that match are counted; default: true' }),
    sortBy: queryChoice(['receivedAt', 'price', 'beds', 'approvedAt']).default('receivedAt').meta({ description: 'The member that orders the list' }),
    sortDir: queryChoice(['asc', 'desc']).default('desc').meta({ description: 'Ascending or descending' }),
  })
  .refine(...inOrder('minBeds', 'maxBeds'))
  .refine(...inOrder('minPrice', 'maxPrice'))
  .refine(({ receivedFrom, receivedTo }) => !receivedFrom || !receivedTo || receivedFrom <= receivedTo, {
    path: ['receivedFrom'],
    error: 'must not be later than receivedTo',
  });
export type PropertyQuery = z.output<typeof PropertyQuery>;
export type PropertyOrder = Pick<PropertyQuery, 'page' | 'pageSize' | 'sortBy' | 'sortDir' | 'include'>;
export type PropertyFilter = Omit<PropertyQuery, keyof PropertyOrder | 'total'>;
