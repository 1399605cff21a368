// Links: ranked lists, one link in detail, its score explained, and decisions.
import { z } from 'zod';
import { Content, route } from '../../platform/http/route.ts';
import type { OpenSnapshot } from '../../platform/postgres/snapshots.ts';
import { isGuid } from '../../platform/schema.ts';
import { BulkResult, BulkStatusChange, LinkDetail, LinkItem, Problems, ScoreExplanation, type ScoreParts, StatusChange } from '../contract.ts';
import { List, paginationOf, success, Success } from '../envelope.ts';
import { cursorParameters, cutPage, pageParameters, readOptionalPage, rowsOf, usualPerPage } from '../paging.ts';
import type { DecisionStore } from '../scoring/decision-store.ts';
import { changeStatus } from '../scoring/learning.ts';
import type { Explanation, Scores } from '../scoring/scores.ts';
import { type LinkCursorPage, LinkQuery, type LinkRequest, listOf, readCursor, readLinkQuery } from './query.ts';
import { createLinkStore, keysOf, type LinkStore, type ListedLink } from './store.ts';

type LinkParts = {
  readonly store: LinkStore;
  readonly scores: Scores;
  readonly decisions: DecisionStore;
  readonly openSnapshot: OpenSnapshot;
  readonly clock: () => Date;
};

const ById = z.object({ id: z.string().meta({ description: 'The id of the link' }) });

const LinkList = List(LinkItem);
const itemOf = ({ scoredAt: _, ...item }: ListedLink): LinkItem => item;

/** Finds a link, and computes its score anew where that is stale. */
async function findLink({ store, scores }: LinkParts, id: string): Promise<LinkItem> {
  const link = isGuid(id) ? await store.find(id) : undefined;
  if (!link) throw Problems.linkMissing();
  if (!scores.isStale(link.scoredAt)) return itemOf(link);
  await scores.compute([id]);
  return itemOf((await store.find(id)) ?? link);
}

/** Computes the stale scores of these links. @returns whether there was one */
async function refresh(scores: Scores, links: readonly ListedLink[]): Promise<boolean> {
  const stale = links.filter(({ scoredAt }) => scores.isStale(scoredAt)).map(({ id }) => id);
  if (stale.length > 0) await scores.compute(stale);
  return stale.length > 0;
}

/** In the order of the list by priority. */
const byPriority = (one: LinkItem, other: LinkItem): number =>
  other.priorityScore - one.priorityScore || other.firstSeen.getTime() - one.firstSeen.getTime() || (one.id < other.id ? -1 : 1);

type Shown = Pick<LinkRequest, 'hasScores' | 'sort'> & { readonly areScoresKept?: boolean };

/** The items of a page; with the parts of their scores, which are computed for it. */
async function itemsOf({ scores }: LinkParts, links: readonly ListedLink[], { hasScores, sort, areScoresKept = true }: Shown): Promise<LinkItem[]> {
  if (!hasScores) return links.map(itemOf);
  const ids = links.map(({ id }) => id);
  const explained = await (areScoresKept ? scores.explain(ids) : scores.explainUnkept(ids));
  const items = links.flatMap((link) => {
    const explanation = explained.get(link.id);
    return explanation ? [{ ...itemOf(link), priorityScore: explanation.score, score: partsOf(explanation) }] : [];
  });
  return sort === 'priority' ? items.toSorted(byPriority) : items;
}

async function listLinks(parts: LinkParts, { filter, sort, page, hasScores }: Omit<LinkRequest, 'cursorPage'>) {
  const { store, scores } = parts;
  const read = () => store.page(filter, { sort, ...rowsOf(page) });
  const [links, total] = await Promise.all([read(), store.count(filter)]);
  // New scores may change the order.
  const shown = (await refresh(scores, links)) ? await read() : links;
  return { ...success(await itemsOf(parts, shown, { hasScores, sort })), pagination: paginationOf(page, total) };
}

/** By priority, scores are computed before the first page only: a link of a page whose score fell would come again behind the cursor. */
async function listLinksAfter(parts: LinkParts, { filter, hasScores }: Pick<LinkRequest, 'filter' | 'hasScores'>, page: LinkCursorPage) {
  const { store, scores } = parts;
  const { sort, limit } = page;
  const isByPriority = sort === 'priority';
  if (isByPriority && page.after === undefined) await scores.computeStale();
  const { items: links, next } = cutPage(await store.pageAfter(filter, page), { limit, list: listOf(sort), keysOf: (link) => keysOf(link, sort) });
  if (hasScores || isByPriority || !(await refresh(scores, links)))
    return { ...success(await itemsOf(parts, links, { hasScores, sort, areScoresKept: !isByPriority })), next };
  const fresh = new Map((await store.findAll(links.map(({ id }) => id))).map((link) => [link.id, link]));
  return { ...success(links.map((link) => itemOf(fresh.get(link.id) ?? link))), next };
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

async function streamAwaiting(openSnapshot: OpenSnapshot, address: string): Promise<Content> {
  const { text } = await openSnapshot(address, (snapshot) => Promise.resolve({ head: undefined, pieces: jsonOfAwaiting(createLinkStore(snapshot)) }));
  return new Content('application/json; charset=utf-8', text);
}

function partsOf({ base, factors, authors, keywords, newsletters }: Explanation): ScoreParts {
  const { author, keyword, recency, popularity } = factors;
  return {
    base,
    factors: {
      author: { ...author, sampleSize: authors.reduce((sum, { sampleSize }) => sum + sampleSize, 0), authors: [...authors] },
      keyword: { ...keyword, sampleSize: keywords.length, keywords: [...keywords] },
      recency: { ...recency, sampleSize: 1 },
      popularity: { ...popularity, sampleSize: newsletters },
    },
  };
}

export const linkRoutes = (parts: LinkParts) => [...listRoutes(parts), bulkRoute(parts), ...singleRoutes(parts)];

const listRoutes = (parts: LinkParts) => [
  route({
    method: 'get',
    path: '/api/links',
    operationId: 'listLinks',
    summary: 'A page of the links that match',
    description:
      'Stale scores of the page are computed first. Only the first fault of a query is answered, in the order status, sort, page, per_page, then the others. With `limit` or `after` the answer has `next`, the `after` of the page behind it, instead of `pagination`. By priority, stale scores of all links that wait for a decision are computed before the first page, and none for a later page; a link whose score changes meanwhile may be missed or come twice.',
    query: LinkQuery,
    answers: { 200: LinkList },
    problems: [Problems.invalidQuery],
    handle({ query }) {
      const wanted = readLinkQuery(query);
      return wanted.cursorPage ? listLinksAfter(parts, wanted, wanted.cursorPage) : listLinks(parts, wanted);
    },
  }),
  route({
    method: 'get',
    path: '/api/links/prioritized',
    operationId: 'listPrioritizedLinks',
    summary: 'Links that wait for a decision, best first, all or a page of them; stale scores are computed first',
    description:
      'Without `page`, `per_page`, `limit` and `after` the answer is the whole list as it was at one moment, sent as it is read. With `limit` or `after` it has `next`, the `after` of the page behind it, instead of `pagination`; scores are computed before the first page only.',
    query: z.object({ ...pageParameters, ...cursorParameters }),
    answers: { 200: LinkList },
    problems: [Problems.invalidQuery],
    async handle({ query, clientAddress }) {
      const cursorPage = readCursor(query, 'priority');
      const wanted = { filter: { status: 'Awaiting' }, sort: 'priority', hasScores: false } as const;
      if (cursorPage) return listLinksAfter(parts, wanted, cursorPage);
      const page = readOptionalPage(query);
      await parts.scores.computeStale();
      return page ? listLinks(parts, { ...wanted, page }) : streamAwaiting(parts.openSnapshot, clientAddress());
    },
  }),
];

const bulkRoute = (parts: LinkParts) =>
  route({
    method: 'post',
    path: '/api/links/bulk',
    operationId: 'setLinkStatuses',
    summary: 'Decides on up to 500 links at once, and learns from each',
    description:
      'One transaction: all links change, or none. Each is taught as by a decision on it alone, and taken back by a change back within ten minutes. Links that have the status, unknown ids and repeats are ignored and do not count.',
    body: BulkStatusChange,
    answers: { 200: Success(BulkResult) },
    async handle({ body: { ids, status } }) {
      const { changed } = await changeStatus(parts.decisions, { ids: ids.filter(isGuid), status, now: parts.clock() });
      return success({ updated: changed });
    },
  });

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
      if (!isGuid(id) || (await changeStatus(parts.decisions, { ids: [id], status, now: parts.clock() })).known === 0) throw Problems.linkMissing();
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
      const explanation = isGuid(id) ? (await parts.scores.explain([id])).get(id.toLowerCase()) : undefined;
      if (!explanation) throw Problems.linkMissing();
      return success({ id, priorityScore: explanation.score, ...partsOf(explanation) });
    },
  }),
];
