// Listings that belong together: those of one flat, and neighbours that are alike.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { isGuid, queryInteger } from '../../platform/schema.ts';
import { Problems, type Property } from '../contract.ts';
import type { ListingStore } from '../store.ts';
import { Neighbours } from './contract.ts';
import type { RelationStore } from './store.ts';

/** Each listing with the others of its flat. */
export async function withDuplicates(store: RelationStore, listings: readonly Property[]): Promise<Property[]> {
  const found = Map.groupBy(await store.duplicates(listings.map(({ id }) => id)), ({ of }) => of);
  return listings.map((listing) => ({ ...listing, duplicates: (found.get(listing.id) ?? []).map(({ of: _, ...duplicate }) => duplicate) }));
}

const ById = z.object({ id: z.string().meta({ description: 'The id of the listing' }) });
const NeighbourQuery = z.object({ limit: queryInteger({ min: 1, max: 50, default: 10 }).meta({ description: 'How many neighbours at most' }) });

export const relationRoutes = (listings: Pick<ListingStore, 'find'>, store: RelationStore) => [
  route({
    method: 'get',
    path: '/api/properties/{id}/neighbours',
    operationId: 'listNeighbours',
    isQueryClosed: true,
    summary: 'The nearest listings of about the same rent and beds, whatever was decided on them',
    description:
      'The beds differ by one at most and the rent by a quarter; those of the same flat and withdrawn ones are left out. Chosen from the 500 nearest. A listing without coordinates has none.',
    params: ById,
    query: NeighbourQuery,
    answers: { 200: Neighbours },
    problems: [Problems.propertyMissing],
    async handle({ params: { id }, query: { limit } }) {
      const listing = isGuid(id) ? await listings.find(id) : undefined;
      if (!listing) throw Problems.propertyMissing();
      const { latitude, longitude } = listing;
      return { items: latitude === null || longitude === null ? [] : await store.neighbours({ id: listing.id, latitude, longitude }, limit) };
    },
  }),
];
