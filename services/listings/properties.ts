// Listings: lists with filters, decisions on one or many, price history and statistics.
import { z } from 'zod';
import { route } from '../platform/http/route.ts';
import { isGuid } from '../platform/schema.ts';
import { type BulkAction, BulkResult, BulkUpdate, PriceChange, Problems, Property, PropertyPage, PropertyUpdate, Stats, type Status } from './contract.ts';
import { cursorAfter, Include, PropertyQuery } from './property-query.ts';
import { withDuplicates } from './relations/relations.ts';
import type { RelationStore } from './relations/store.ts';
import type { ListingStore } from './store.ts';

const ById = z.object({ id: z.string().meta({ description: 'The id of the listing' }) });
const ReadingQuery = z.object({ include: Include });
const statusAfter: Readonly<Record<BulkAction, Status>> = { approve: 'approved', recycle: 'recycled', restore: 'inbox' };
/** Enough for years of daily price changes. */
const longestHistory = 1000;

async function findProperty(store: ListingStore, id: string): Promise<Property> {
  const property = isGuid(id) ? await store.find(id) : undefined;
  if (!property) throw Problems.propertyMissing();
  return property;
}

type Stores = { readonly store: ListingStore; readonly relations: RelationStore };

export const propertyRoutes = ({ clock, ...stores }: Stores & { readonly clock: () => Date }) => [
  listingRoute(stores),
  ...readingRoutes(stores),
  ...decidingRoutes(stores.store, clock),
];

/** A page, and with a limit or a cursor the cursor of the next one. */
async function readPage({ store, relations }: Stores, query: PropertyQuery) {
  const { page, pageSize: size, limit, after, sortBy, sortDir, include, total: _, ...filter } = query;
  const pageSize = limit ?? size;
  const hasCursor = limit !== undefined || after !== undefined;
  // One more row shows whether there is a next page.
  const rows = await store.page(filter, { sortBy, sortDir, include, after, offset: (page - 1) * pageSize, rows: hasCursor ? pageSize + 1 : pageSize });
  const listings = rows.slice(0, pageSize);
  const items = include.includes('duplicates') ? await withDuplicates(relations, listings) : listings;
  const last = rows.length > pageSize ? listings.at(-1) : undefined;
  return { items, page, pageSize, ...(hasCursor && { next: last ? cursorAfter(last, query) : null }) };
}

const listingRoute = (stores: Stores) =>
  route({
    method: 'get',
    path: '/api/properties',
    operationId: 'listProperties',
    summary: 'The listings of a status that match every filter, a page of them, and how many there are',
    description:
      'All filters must match, and bounds are inclusive. Ties are sorted by id. A page past the end is empty, with the true total. With `limit` the answer has `next`, which is the `after` of the next page: nothing is skipped or repeated where listings come or go meanwhile; a listing whose `receivedAt`, rent or beds change meanwhile may be missed or come twice.',
    query: PropertyQuery,
    answers: { 200: PropertyPage },
    async handle({ query }) {
      if (!query.total) return readPage(stores, query);
      const [page, total] = await Promise.all([readPage(stores, query), stores.store.count(query)]);
      return { ...page, total };
    },
  });

const readingRoutes = ({ store, relations }: Stores) => [
  route({
    method: 'get',
    path: '/api/properties/{id}',
    operationId: 'getProperty',
    summary: 'One listing',
    description: 'The id is that of the listing here, not that of its origin.',
    params: ById,
    query: ReadingQuery,
    answers: { 200: Property },
    problems: [Problems.propertyMissing],
    async handle({ params: { id }, query: { include } }) {
      if (include.length === 0) return findProperty(store, id);
      const property = isGuid(id) ? await store.findWith(id, include) : undefined;
      if (!property) throw Problems.propertyMissing();
      const [whole = property] = include.includes('duplicates') ? await withDuplicates(relations, [property]) : [];
      return whole;
    },
  }),
  route({
    method: 'get',
    path: '/api/properties/{id}/history',
    operationId: 'listPropertyPrices',
    isQueryClosed: true,
    summary: `The prices that a listing had, newest first, ${longestHistory} at most`,
    description: 'The first price is among them.',
    params: ById,
    answers: { 200: z.array(PriceChange) },
    problems: [Problems.propertyMissing],
    handle: async ({ params }) => store.history((await findProperty(store, params.id)).id, longestHistory),
  }),
  route({
    method: 'get',
    path: '/api/stats',
    operationId: 'getStatistics',
    summary: 'How many listings have each status, and the average and median price of those approved',
    description: 'Average and median have two decimals; the median of an even number is the mean of the two middle rents.',
    answers: { 200: Stats },
    handle: () => store.stats(),
  }),
];

const decidingRoutes = (store: ListingStore, clock: () => Date) => [
  route({
    method: 'patch',
    path: '/api/properties/{id}',
    operationId: 'updateProperty',
    summary: 'Decides on a listing, or changes its notes',
    description: 'Any status may be set; a changed status sets its time. The same status again changes nothing.',
    params: ById,
    body: PropertyUpdate,
    answers: { 200: Property },
    problems: [Problems.propertyMissing],
    async handle({ params: { id }, body }) {
      const property = isGuid(id) ? await store.update(id, body, clock()) : undefined;
      if (!property) throw Problems.propertyMissing();
      return property;
    },
  }),
  route({
    method: 'post',
    path: '/api/properties/bulk',
    operationId: 'updateProperties',
    summary: 'Decides on many listings at once; those that have the status already do not count',
    description: 'All changed listings get the same time.',
    body: BulkUpdate,
    answers: { 200: BulkResult },
    handle: async ({ body: { ids, action } }) => ({ updated: await store.updateAll(ids, statusAfter[action], clock()) }),
  }),
];
