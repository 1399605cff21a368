// Overviews of the listings that filters leave: a map, counts and rents.
import { route } from '../../platform/http/route.ts';
import { HistogramQuery, MapQuery, OverviewQuery } from '../property-query.ts';
import { mostLookedAt, PriceHistogram, PropertyFacets, PropertyMap } from './contract.ts';
import type { OverviewStore } from './store.ts';

const looksAt = `It looks at the last received ${mostLookedAt} listings at most; \`from\` is the time of the oldest of them where there are more.`;

export const overviewRoutes = (store: OverviewStore) => [
  route({
    method: 'get',
    path: '/api/properties/map',
    operationId: 'mapProperties',
    isQueryClosed: true,
    summary: 'The listings of a box, as clusters for a map',
    description: `The box is divided into at most 289 cells, which stay where they are while the map is moved. A cluster is what is in a cell, and its place the centre of its listings. ${looksAt}`,
    query: MapQuery,
    answers: { 200: PropertyMap },
    handle: ({ query }) => store.map(query),
  }),
  route({
    method: 'get',
    path: '/api/properties/facets',
    operationId: 'countProperties',
    isQueryClosed: true,
    summary: 'How many listings there are of each status, type, energy rating, routing key and number of bedrooms',
    description: `All filters must match, as in the list. ${looksAt}`,
    query: OverviewQuery,
    answers: { 200: PropertyFacets },
    handle: ({ query }) => store.facets(query),
  }),
  route({
    method: 'get',
    path: '/api/properties/histogram',
    operationId: 'countPropertiesByPrice',
    isQueryClosed: true,
    summary: 'How many listings there are by rent',
    description: `The ranges are of one width, a round number. ${looksAt}`,
    query: HistogramQuery,
    answers: { 200: PriceHistogram },
    handle: ({ query: { buckets, ...filter } }) => store.histogram(filter, buckets),
  }),
];
