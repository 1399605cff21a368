// The query parameters of a list of links: status, order, page, filters and search.
import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { storable } from '../../platform/json.ts';
import { isGuid, milliseconds, TimestampInput } from '../../platform/schema.ts';
import { linkStatuses, type LinkStatus } from '../contract.ts';
import type { PageRequest } from '../envelope.ts';
import { cursorParameters, type CursorPage, invalid, nameKeys, pageParameters, queryText, readChoice, readCursorPage, readPage, timeKeys } from '../paging.ts';

export const linkOrders = ['priority', 'newest', 'oldest', 'title'] as const;
export type LinkOrder = (typeof linkOrders)[number];

export const LinkQuery = z.object({
  status: queryText({ $ref: '#/components/schemas/LinkStatus', description: 'Links of this status only' }),
  ...pageParameters,
  sort: queryText({ type: 'string', enum: [...linkOrders], default: 'priority', description: 'The order of the links' }),
  search: queryText({ type: 'string', description: 'A part of the title or of the name of an author, whatever the case and the accents' }),
  ...cursorParameters,
  author: queryText({ type: 'string', format: 'uuid', description: 'Links of the author with this id only' }),
  newsletter: queryText({ type: 'string', format: 'uuid', description: 'Links of the newsletter with this id only' }),
  host: queryText({ type: 'string', description: 'Links on this host only, such as `blog.example`; its subdomains are other hosts' }),
  from: queryText({ type: 'string', format: 'date-time', description: 'Links first seen at this time or later' }),
  to: queryText({ type: 'string', format: 'date-time', description: 'Links first seen before this time' }),
  include: queryText({ type: 'string', enum: ['score'], description: '`score`: each link has the parts of its score, which is computed first' }),
});

export type LinkFilter = {
  readonly status?: LinkStatus | undefined;
  readonly search?: string | undefined;
  readonly author?: string | undefined;
  readonly newsletter?: string | undefined;
  readonly host?: string | undefined;
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
};

const priorityKeys = z.tuple([z.number().min(0).max(10), milliseconds, z.guid()]);

/** A page behind a link of the same order. */
export type LinkCursorPage =
  | (CursorPage<z.output<typeof priorityKeys>> & { readonly sort: 'priority' })
  | (CursorPage<z.output<typeof timeKeys>> & { readonly sort: 'newest' | 'oldest' })
  | (CursorPage<z.output<typeof nameKeys>> & { readonly sort: 'title' });

/** The name of the list in its cursors. */
export const listOf = (sort: LinkOrder): string => `links.${sort}`;

export type LinkRequest = {
  readonly filter: LinkFilter;
  readonly sort: LinkOrder;
  readonly page: PageRequest;
  /** Asked for instead of the page with a number. */
  readonly cursorPage: LinkCursorPage | undefined;
  readonly hasScores: boolean;
};

const given = (text: string | undefined): string | undefined => storable(text?.trim() ?? '') || undefined;

/** The page that is asked for by `limit` or `after`; undefined without them. @throws Problem 422 */
export function readCursor(query: Parameters<typeof readCursorPage>[0], sort: LinkOrder): LinkCursorPage | undefined {
  const list = listOf(sort);
  if (sort === 'priority') return of(sort, readCursorPage(query, list, priorityKeys));
  return sort === 'title' ? of(sort, readCursorPage(query, list, nameKeys)) : of(sort, readCursorPage(query, list, timeKeys));
}
const of = <Order extends LinkOrder, Page>(sort: Order, page: Page | undefined) => page && { ...page, sort };

function readId(name: string, text: string | undefined): string | undefined {
  const id = given(text);
  if (id === undefined || isGuid(id)) return id;
  throw invalid(`${name} must be an id`);
}

/** A host as links have it: in lower case, in the ASCII form of names in other scripts. */
function readHost(text: string | undefined): string | undefined {
  const host = given(text);
  if (host === undefined) return undefined;
  const found = /^[^\s/?#@:]+$|^\[[\da-f:.]+\]$/i.test(host) ? domainToASCII(host) : '';
  if (found === '') throw invalid('host must be a host name, such as blog.example');
  return found;
}

function readTime(name: string, text: string | undefined): Date | undefined {
  const written = given(text);
  if (written === undefined) return undefined;
  const { data, error } = TimestampInput.safeParse(written);
  if (data) return data;
  throw invalid(`${name} ${error?.issues[0]?.message ?? 'must be a time'}`);
}

/** Checks status, sort, page and per_page in this order, and then the others. @throws Problem 422 for the first fault */
export function readLinkQuery(query: z.output<typeof LinkQuery>): LinkRequest {
  const status = readChoice('status', query.status, linkStatuses);
  const sort = readChoice('sort', query.sort, linkOrders) ?? 'priority';
  const page = readPage(query);
  const cursorPage = readCursor(query, sort);
  const [author, newsletter] = [readId('author', query.author), readId('newsletter', query.newsletter)];
  const host = readHost(query.host);
  const [from, to] = [readTime('from', query.from), readTime('to', query.to)];
  if (from && to && from > to) throw invalid('from must not be later than to');
  const hasScores = readChoice('include', query.include, ['score']) === 'score';
  return { filter: { status, search: given(query.search), author, newsletter, host, from, to }, sort, page, cursorPage, hasScores };
}
