// Newsletters: lists of stored newsletters and of refused mails, and one newsletter with its links.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { isGuid } from '../../platform/schema.ts';
import { Problems } from '../contract.ts';
import { List, paginationOf, success, Success } from '../envelope.ts';
import { pageParameters, queryText, readChoice, readOptionalPage, optionalRowsOf } from '../paging.ts';
import { NewsletterDetail, NewsletterItem } from './contract.ts';
import type { NewsletterLists } from './store.ts';

const ById = z.object({ id: z.string().meta({ description: 'The id of the newsletter' }) });
const statuses = ['stored', 'rejected'] as const;

export const newsletterRoutes = (store: NewsletterLists) => [
  route({
    method: 'get',
    path: '/api/newsletters',
    operationId: 'listNewsletters',
    summary: 'Newsletters, newest first, all or a page of them; or refused mails with their reasons',
    description: 'Refused mails are not parsed: they have a reason, and neither title nor address.',
    query: z.object({
      status: queryText({ type: 'string', enum: [...statuses], default: 'stored', description: 'Stored newsletters, or refused mails' }),
      ...pageParameters,
    }),
    answers: { 200: List(NewsletterItem) },
    problems: [Problems.invalidQuery],
    async handle({ query }) {
      const isRejected = readChoice('status', query.status, statuses) === 'rejected';
      const page = readOptionalPage(query);
      const newsletters = await (isRejected ? store.rejected : store.stored)(optionalRowsOf(page));
      if (!page) return success(newsletters);
      return { ...success(newsletters), pagination: paginationOf(page, await (isRejected ? store.countRejected : store.countStored)()) };
    },
  }),
  route({
    method: 'get',
    path: '/api/newsletters/{id}',
    operationId: 'getNewsletter',
    summary: 'A newsletter with its links, in the order of the mail',
    description: 'A refused mail is no newsletter: its id answers 404.',
    params: ById,
    answers: { 200: Success(NewsletterDetail) },
    problems: [Problems.newsletterMissing],
    async handle({ params: { id } }) {
      const newsletter = isGuid(id) ? await store.find(id) : undefined;
      if (!newsletter) throw Problems.newsletterMissing();
      return success({ ...newsletter, links: await store.linksOf(id) });
    },
  }),
];
