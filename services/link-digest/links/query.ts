// The query parameters of a list of links: status, order, page and search.
import { z } from 'zod';
import { storable } from '../../platform/json.ts';
import { linkStatuses, type LinkStatus } from '../contract.ts';
import type { PageRequest } from '../envelope.ts';
import { pageParameters, queryText, readChoice, readPage } from '../paging.ts';

export const linkOrders = ['priority', 'newest', 'oldest', 'title'] as const;
export type LinkOrder = (typeof linkOrders)[number];

export const LinkQuery = z.object({
  status: queryText({ $ref: '#/components/schemas/LinkStatus', description: 'Links of this status only' }),
  ...pageParameters,
  sort: queryText({ type: 'string', enum: [...linkOrders], default: 'priority', description: 'The order of the links' }),
  search: queryText({ type: 'string', description: 'A part of the title or of the name of an author, whatever the case and the accents' }),
});

export type LinkFilter = { readonly status: LinkStatus | undefined; readonly search: string | undefined };

/** Checks status, sort, page and per_page in this order. @throws Problem 422 for the first fault */
export function readLinkQuery(query: z.output<typeof LinkQuery>): { filter: LinkFilter; sort: LinkOrder; page: PageRequest } {
  const status = readChoice('status', query.status, linkStatuses);
  const sort = readChoice('sort', query.sort, linkOrders) ?? 'priority';
  const page = readPage(query);
  const search = storable(query.search?.trim() ?? '');
  return { filter: { status, search: search === '' ? undefined : search }, sort, page };
}
