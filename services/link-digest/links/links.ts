// Links: ranked lists, one link in detail, its score explained, and decisions.
import { z } from 'zod';
import { Content, route } from '../../platform/http/route.ts';
import type { OpenSnapshot } from '../../platform/postgres/snapshots.ts';
import { isGuid } from '../../platform/schema.ts';
import { LinkDetail, LinkItem, Problems, ScoreExplanation, StatusChange } from '../contract.ts';
import { Page, type PageRequest, paginationOf, success, Success } from '../envelope.ts';
import { pageParameters, readOptionalPage, rowsOf, usualPerPage } from '../paging.ts';
import { changeStatus } from '../scoring/learning.ts';
import type { Explanation, Scores } from '../scoring/scores.ts';
import type { ScoreStore } from '../scoring/store.ts';
import { type LinkFilter, type LinkOrder, LinkQuery, readLinkQuery } from './query.ts';
import { createLinkStore, type LinkStore, type ListedLink } from './store.ts';

type LinkParts = {
  readonly store: LinkStore;
  readonly scores: Scores;
  readonly decisions: Pick<ScoreStore, 'decide'>;
  readonly openSnapshot: OpenSnapshot;
  readonly clock: () => Date;
};
type Wanted = { readonly filter: LinkFilter; readonly sort: LinkOrder; readonly page: PageRequest };

const ById = z.object({ id: z.string().meta({ description: 'The id of the link' }) });
const LinkPage = Page(LinkItem);

const itemOf = ({ scoredAt: _, ...item }: ListedLink): LinkItem => item;

/** Finds a link, and computes its score anew where that is stale. */
async function findLink({ store, scores }: LinkParts, id: string): Promise<LinkItem> {
  const link = isGuid(id) ? await store.find(id) : undefined;
  if (!link) throw Problems.linkMissing();
  if (!scores.isStale(link.scoredAt)) return itemOf(link);
  await scores.compute([id]);
  return itemOf((await store.find(id)) ?? link);
}

async function listLinks({ store, scores }: LinkParts, { filter, sort, page }: Wanted) {
  const read = () => store.page(filter, { sort, ...rowsOf(page) });
  const [links, total] = await Promise.all([read(), store.count(filter)]);
  const stale = links.filter(({ scoredAt }) => scores.isStale(scoredAt)).map(({ id }) => id);
  if (stale.length > 0) await scores.compute(stale);
  // New scores may change the order.
  const shown = stale.length > 0 ? await read() : links;
  return { ...success(shown.map(itemOf)), pagination: paginationOf(page, total) };
}

/** All waiting links of one snapshot, and then their number. */
async function* jsonOfAwaiting(snapshot: LinkStore): AsyncGenerator<string, undefined> {
  let total = 0;
  yield '{"success":true,"data":[';
  for await (const links of snapshot.awaiting()) {
    if (links.length > 0) yield `${total > 0 ? ',' : ''}${links.map((link) => JSON.stringify(itemOf(link))).join(',')}`;
    total += links.length;
  }
  yield `],"pagination":${JSON.stringify(paginationOf({ page: 1, perPage: total || usualPerPage }, total))}}`;
  return undefined;
}

async function streamAwaiting(openSnapshot: OpenSnapshot): Promise<Content> {
  const { text } = await openSnapshot((snapshot) => Promise.resolve({ head: undefined, pieces: jsonOfAwaiting(createLinkStore(snapshot)) }));
  return new Content('application/json; charset=utf-8', text);
}

function explanationOf(id: string, { base, factors, score, reviews, keywords, newsletters }: Explanation): z.output<typeof ScoreExplanation> {
  const { author, keyword, recency, popularity } = factors;
  const reviewed = reviews.reduce((sum, { liked, discarded, discardedAfterReview }) => sum + liked + discarded + discardedAfterReview, 0);
  return {
    id,
    priorityScore: score,
    base,
    factors: {
      author: { ...author, sampleSize: reviewed },
      keyword: { ...keyword, sampleSize: keywords.length, keywords: [...keywords] },
      recency: { ...recency, sampleSize: 1 },
      popularity: { ...popularity, sampleSize: newsletters },
    },
  };
}

export const linkRoutes = (parts: LinkParts) => [...listRoutes(parts), ...singleRoutes(parts)];

const listRoutes = (parts: LinkParts) => [
  route({
    method: 'get',
    path: '/api/links',
    operationId: 'listLinks',
    summary: 'A page of the links that match',
    description: 'Stale scores of the page are computed first. Only the first fault of a query is answered, in the order status, sort, page, per_page.',
    query: LinkQuery,
    answers: { 200: LinkPage },
    problems: [Problems.invalidQuery],
    handle: ({ query }) => listLinks(parts, readLinkQuery(query)),
  }),
  route({
    method: 'get',
    path: '/api/links/prioritized',
    operationId: 'listPrioritizedLinks',
    summary: 'Links that wait for a decision, best first, all or a page of them; stale scores are computed first',
    description: 'Without `page` and `per_page` the answer is the whole list as it was at one moment, sent as it is read.',
    query: z.object(pageParameters),
    answers: { 200: LinkPage },
    problems: [Problems.invalidQuery],
    async handle({ query }) {
      const page = readOptionalPage(query);
      await parts.scores.computeStale();
      return page ? listLinks(parts, { filter: { status: 'Awaiting', search: undefined }, sort: 'priority', page }) : streamAwaiting(parts.openSnapshot);
    },
  }),
];

const singleRoutes = (parts: LinkParts) => [
  route({
    method: 'get',
    path: '/api/links/{id}',
    operationId: 'getLink',
    summary: 'A link with its authors and the newsletters that hold it',
    description: 'A stale score is computed first.',
    params: ById,
    answers: { 200: Success(LinkDetail) },
    problems: [Problems.linkMissing],
    async handle({ params: { id } }) {
      const { authorNames: _, newsletterAppearanceCount: __, ...link } = await findLink(parts, id);
      const [authors, newsletters] = await Promise.all([parts.store.authorsOf(id), parts.store.newslettersOf(id)]);
      return success({ ...link, authors, newsletters });
    },
  }),
  route({
    method: 'put',
    path: '/api/links/{id}/status',
    operationId: 'setLinkStatus',
    summary: 'Decides on a link, and learns from it',
    description:
      'A changed status teaches the authors of the link and the words of its title, and makes the score stale. The same status again changes nothing; a change back within ten minutes takes back what the change before it taught.',
    params: ById,
    body: StatusChange,
    answers: { 200: Success(LinkItem) },
    problems: [Problems.linkMissing],
    async handle({ params: { id }, body: { status } }) {
      if (!isGuid(id) || !(await changeStatus(parts.decisions, { id, status, now: parts.clock() }))) throw Problems.linkMissing();
      // Another change may have followed.
      return success({ ...(await findLink(parts, id)), status });
    },
  }),
  route({
    method: 'get',
    path: '/api/links/{id}/score',
    operationId: 'explainLinkScore',
    summary: 'Why a link has the score that it has',
    description: 'The score is computed and stored, so that lists show the score that is explained.',
    params: ById,
    answers: { 200: Success(ScoreExplanation) },
    problems: [Problems.linkMissing],
    async handle({ params: { id } }) {
      const explanation = isGuid(id) ? await parts.scores.explain(id) : undefined;
      if (!explanation) throw Problems.linkMissing();
      return success(explanationOf(id, explanation));
    },
  }),
];
