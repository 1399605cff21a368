// Authors: a list by name, and one author with links and decisions on them.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { isGuid } from '../../platform/schema.ts';
import { AuthorDetail, AuthorItem, Problems } from '../contract.ts';
import { List, paginationOf, success, Success } from '../envelope.ts';
import { pageParameters, readOptionalPage, optionalRowsOf } from '../paging.ts';
import type { AuthorStore } from './store.ts';

export const authorRoutes = (store: AuthorStore) => [
  route({
    method: 'get',
    path: '/api/authors',
    operationId: 'listAuthors',
    summary: 'Authors by name, all or a page of them',
    description: 'Authors come from bylines, and from the handles of platforms.',
    query: z.object(pageParameters),
    answers: { 200: List(AuthorItem) },
    problems: [Problems.invalidQuery],
    async handle({ query }) {
      const page = readOptionalPage(query);
      const authors = await store.list(optionalRowsOf(page));
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
