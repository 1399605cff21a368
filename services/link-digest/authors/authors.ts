// Authors: all of them by name, and one with the links and what was decided on these.
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
    summary: 'An author with the links, and how many of them have each status',
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
