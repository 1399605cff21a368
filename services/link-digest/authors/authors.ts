// Authors: a list by name, and one author with links and decisions on them.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { isGuid } from '../../platform/schema.ts';
import { Problems } from '../contract.ts';
import { List, paginationOf, success, Success } from '../envelope.ts';
import { cursorParameters, cutPage, nameKeys, optionalRowsOf, pageParameters, queryText, readChoice, readCursorPage, readOptionalPage } from '../paging.ts';
import { AuthorDetail, AuthorItem } from './contract.ts';
import { type AuthorStore, noInteractions } from './store.ts';

/** The authors with the decisions on their links. */
async function withInteractions(store: AuthorStore, authors: readonly AuthorItem[]): Promise<AuthorItem[]> {
  const counts = await store.interactionsOfAll(authors.map(({ id }) => id));
  return authors.map((author) => ({ ...author, interactionCounts: counts.get(author.id) ?? noInteractions }));
}

export const authorRoutes = (store: AuthorStore) => [
  route({
    method: 'get',
    path: '/api/authors',
    operationId: 'listAuthors',
    summary: 'Authors by name, all or a page of them',
    description:
      'Authors come from bylines, and from the handles of platforms. With `limit` or `after` the answer has `next`, the `after` of the page behind it.',
    query: z.object({
      ...pageParameters,
      ...cursorParameters,
      include: queryText({ type: 'string', enum: ['interactions'], description: '`interactions`: each author has the decisions on the links of the author' }),
    }),
    answers: { 200: List(AuthorItem) },
    problems: [Problems.invalidQuery],
    async handle({ query }) {
      const cursorPage = readCursorPage(query, 'authors', nameKeys);
      const hasInteractions = readChoice('include', query.include, ['interactions']) === 'interactions';
      const shown = (authors: AuthorItem[]) => (hasInteractions ? withInteractions(store, authors) : authors);
      if (cursorPage) {
        const { items, next } = cutPage(await store.listAfter(cursorPage), { ...cursorPage, list: 'authors', keysOf: ({ name, id }) => [name, id] });
        return { ...success(await shown(items)), next };
      }
      const page = readOptionalPage(query);
      const authors = await shown(await store.list(optionalRowsOf(page)));
      return page ? { ...success(authors), pagination: paginationOf(page, await store.count()) } : success(authors);
    },
  }),
  route({
    method: 'get',
    path: '/api/authors/{id}',
    operationId: 'getAuthor',
    summary: 'An author with all links, and how many of them have each status',
    description: 'The counts by status are those of the author factor of the score.',
    params: z.object({ id: z.string().meta({ description: 'The id of the author' }) }),
    answers: { 200: Success(AuthorDetail) },
    problems: [Problems.authorMissing],
    async handle({ params: { id } }) {
      const author = isGuid(id) ? await store.find(id) : undefined;
      if (!author) throw Problems.authorMissing();
      const [interactionCounts, links] = await Promise.all([store.interactions(id), store.linksOf(id)]);
      return success({ ...author, interactionCounts, links });
    },
  }),
];
