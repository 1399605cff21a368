// Newsletters: lists of stored newsletters and of refused mails, and one newsletter with its links or as the mail that it was.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { isGuid } from '../../platform/schema.ts';
import { Common } from '../../platform/problem.ts';
import { Problems } from '../contract.ts';
import { List, paginationOf, success, Success } from '../envelope.ts';
import type { MailReader } from '../mails/reader.ts';
import { cursorParameters, cutPage, optionalRowsOf, pageParameters, queryText, readChoice, readCursorPage, readOptionalPage, timeKeys } from '../paging.ts';
import { MailView, NewsletterDetail, NewsletterItem } from './contract.ts';
import type { NewsletterLists } from './store.ts';

const ById = z.object({ id: z.string().meta({ description: 'The id of the newsletter' }) });
const statuses = ['stored', 'rejected'] as const;

export const newsletterRoutes = (store: NewsletterLists, mails: Pick<MailReader, 'show'>) => [...readingRoutes(store), mailRoute(store, mails)];

const readingRoutes = (store: NewsletterLists) => [
  route({
    method: 'get',
    path: '/api/newsletters',
    operationId: 'listNewsletters',
    summary: 'Newsletters, newest first, all or a page of them; or refused mails with their reasons',
    description:
      'Refused mails are not parsed: they have a reason, and neither title nor address. With `limit` or `after` the answer has `next`, the `after` of the page behind it.',
    query: z.object({
      status: queryText({ type: 'string', enum: [...statuses], default: 'stored', description: 'Stored newsletters, or refused mails' }),
      ...pageParameters,
      ...cursorParameters,
    }),
    answers: { 200: List(NewsletterItem) },
    problems: [Problems.invalidQuery],
    async handle({ query }) {
      const isRejected = readChoice('status', query.status, statuses) === 'rejected';
      const list = isRejected ? 'newsletters.rejected' : 'newsletters';
      const cursorPage = readCursorPage(query, list, timeKeys);
      if (cursorPage) {
        const rows = await (isRejected ? store.rejectedAfter : store.storedAfter)(cursorPage);
        const { items, next } = cutPage(rows, { ...cursorPage, list, keysOf: ({ receivedDate, id }) => [receivedDate.getTime(), id] });
        return { ...success(items), next };
      }
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

const mailRoute = (store: NewsletterLists, mails: Pick<MailReader, 'show'>) =>
  route({
    method: 'get',
    path: '/api/newsletters/{id}/mail',
    operationId: 'getNewsletterMail',
    summary: 'The mail of a newsletter for people to read: its text, and its HTML made harmless',
    description:
      'The HTML has no script, style sheet, form, frame or event handler; links lead to http and https addresses only, with `rel="noreferrer"`; small images that came with the mail are `data:` addresses. Images on other hosts are left out, since fetching them tells the sender who reads; with `images=true` those with https addresses stay. Show it in a frame without scripts all the same.',
    params: ById,
    query: z.object({
      images: queryText({ type: 'string', enum: ['true', 'false'], default: 'false', description: 'Whether images on other hosts keep their https addresses' }),
    }),
    answers: { 200: Success(MailView) },
    problems: [Problems.invalidQuery, Problems.newsletterMissing, Problems.mailDeleted, Problems.mailUnreadable],
    async handle({ params: { id }, query }) {
      const hasRemoteImages = readChoice('images', query.images, ['true', 'false']) === 'true';
      const newsletter = isGuid(id) ? await store.find(id) : undefined;
      if (!newsletter) throw Problems.newsletterMissing();
      const raw = await store.raw(id);
      if (!raw) throw Problems.mailDeleted();
      const shown = await mails.show(raw, { hasRemoteImages });
      if (shown.kind === 'refused') throw Problems.mailUnreadable({ detail: `The mail cannot be shown: ${shown.reason}` });
      if (shown.kind === 'unavailable') throw Common.unavailable({ detail: `The mail cannot be shown now: ${shown.reason}`, headers: { 'Retry-After': '5' } });
      const { kind: _, ...mail } = shown.value;
      const { title, receivedDate } = newsletter;
      return success({ id: newsletter.id, title, receivedDate, ...mail });
    },
  });
