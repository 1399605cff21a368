// The query parameters of a list of listings: filters, order and page.
import { z } from 'zod';
import { storable } from '../platform/json.ts';
import { queryChoice, queryInteger, queryList, queryNumber } from '../platform/schema.ts';
import { bounds, Grade, inOrder, PropertyStatus, PropertyType, RoutingKey } from './contract.ts';

const bound = queryInteger(bounds);
const decimal = queryNumber.optional();

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
    sortBy: queryChoice(['receivedAt', 'price', 'beds']).default('receivedAt').meta({ description: 'The member that orders the list' }),
    sortDir: queryChoice(['asc', 'desc']).default('desc').meta({ description: 'Ascending or descending' }),
  })
  .refine(...inOrder('minBeds', 'maxBeds'))
  .refine(...inOrder('minPrice', 'maxPrice'));
export type PropertyQuery = z.output<typeof PropertyQuery>;
export type PropertyOrder = Pick<PropertyQuery, 'page' | 'pageSize' | 'sortBy' | 'sortDir'>;
export type PropertyFilter = Omit<PropertyQuery, keyof PropertyOrder>;
