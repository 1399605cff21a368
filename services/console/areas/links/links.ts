// Links: the queue with the reasons of its order, and one link in detail.
import { z } from 'zod';
import { type ComponentChildren, h, type VNode } from '../../view/elements.ts';
import { LinkDetail, LinkItem, linkStatuses, ScoreExplanation, Series, Stats, type StatusCounts } from '../../../link-digest/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { instantOf } from '../../days.ts';
import { ById, page, pageRows } from '../../pages.ts';
import { besideMs, faultOf, partOf } from '../../parts.ts';
import { pathOf } from '../../upstream/client.ts';
import { detailList } from '../../view/details.ts';
import { chips, filterForm } from '../../view/filters.ts';
import { actionsFormElement, bulkBar } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { lines } from '../../view/plots.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { externalLink, time } from '../../view/texts.ts';
import { decisions } from './decisions.ts';
import { areaTabs, One, Page, Status, statusBadge } from './digest.ts';
import { buttonsOf, countedAs, decisionsOn, linkRows, mayOf } from './link-rows.ts';

const path = '/links';
const orders = ['priority', 'newest', 'oldest', 'title'] as const;
const seriesDays = 30;

const Query = z.object({
  status: Status.optional(),
  sort: z.enum(orders).optional(),
  search: z.string().optional(),
  host: z.string().optional(),
  from: z.iso.date().optional(),
  after: z.string().optional(),
});
type Query = z.output<typeof Query>;

const queue = page({
  path,
  area: 'links',
  query: Query,
  async show(visit) {
    const { locale, query, ask, person } = visit;
    const digest = ask('digest');
    const { status = 'Awaiting', from, ...asked } = query;
    const [{ data: items, next }, stats, days] = await Promise.all([
      digest.get('/api/links', Page(LinkItem), { ...asked, from: instantOf(from, person.zone), status, limit: pageRows, include: 'score' }),
      partOf(digest.send({ path: '/api/stats', timeoutMs: besideMs }, One(Stats))),
      partOf(digest.send({ path: '/api/stats/series', query: { days: seriesDays }, timeoutMs: besideMs }, One(Series))),
    ]);
    const may = mayOf(visit);
    const { links } = locale.t;
    const isFiltered = [query.search, query.host, from, query.after].some((given) => given !== undefined);
    const nothing = isFiltered
      ? filteredEmpty(locale, withQuery(path, { status: query.status }))
      : empty(status === 'Awaiting' ? links.empty : links.emptyStatus);
    return {
      title: locale.t.view.areas.links,
      body: [
        pageHead({ title: locale.t.view.areas.links, lead: links.lead }),
        areaTabs(locale, path),
        statusChips(locale, stats.value?.data.statusCounts, query),
        filters(locale, query),
        items.length > 0 ? linkRows(locale, items, may) : nothing,
        items.length > 0 && may.decide
          ? bulkBar(locale, decisionsOn(locale, '/links/decide', status), h('input', { type: 'hidden', name: 'was', value: status }))
          : null,
        items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
        days.problem ? faultOf(visit, days.problem) : perDay(locale, days.value.data),
        actionsFormElement(),
      ],
    };
  },
});

const statusChips = (locale: Locale, counts: z.output<typeof StatusCounts> | undefined, { after: _, ...query }: Query): VNode =>
  chips(
    locale,
    locale.t.links.status,
    linkStatuses.map((status) => ({
      label: locale.t.links.statuses[status],
      href: withQuery(path, { ...query, status: status === 'Awaiting' ? undefined : status }),
      count: counts?.[status],
      counted: countedAs(status),
      isCurrent: (query.status ?? 'Awaiting') === status,
    })),
  );

function filters(locale: Locale, query: Query): VNode {
  const { links } = locale.t;
  return filterForm(locale, {
    path,
    query,
    kept: ['status'],
    filters: [
      { kind: 'search', name: 'search', label: links.search },
      {
        kind: 'choice',
        name: 'sort',
        label: links.order,
        any: links.orders.priority,
        options: orders.slice(1).map((value) => ({ value, label: links.orders[value] })),
      },
      { kind: 'text', name: 'host', label: links.host },
      { kind: 'date', name: 'from', label: links.since },
    ],
  });
}

function perDay(locale: Locale, days: AnswerOf<typeof Series>): VNode {
  const { links } = locale.t;
  const came = days.map(({ linksIn }) => linksIn);
  const decided = days.map(({ decided: count }) => count);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const places = days.map(({ day }, index) => {
    const label = locale.format.day(new Date(`${day}T12:00:00Z`));
    return { label, tick: index % 7 === days.length % 7 ? label : undefined };
  });
  const plot = { id: 'per-day', title: links.perDay, description: links.perDayText(days.length, sum(came), sum(decided)) };
  const series = [
    { name: links.cameIn, values: came },
    { name: links.wereDecided, values: decided },
  ];
  return lines(locale, plot, { places, series });
}

const one = page({
  path: '/links/{id}',
  area: 'links',
  params: ById,
  async show(visit) {
    const { locale, params, ask } = visit;
    const digest = ask('digest');
    const [{ data: link }, { data: score }] = await Promise.all([
      digest.get(pathOf`/api/links/${params.id}`, One(LinkDetail)),
      digest.get(pathOf`/api/links/${params.id}/score`, One(ScoreExplanation)),
    ]);
    const { links } = locale.t;
    const authors = link.authors.map(({ id, name }) => h('li', null, h('a', { href: `/authors/${id}` }, name)));
    const newsletters = link.newsletters.map(({ id, title, receivedDate }) =>
      h('li', null, h('a', { href: `/newsletters/${id}` }, title ?? links.untitled), ' ', h('span', { class: 'quiet' }, time(locale, receivedDate))),
    );
    return {
      title: link.title,
      body: [
        pageHead({
          title: link.title,
          trail: [{ label: locale.t.view.areas.links, href: path }],
          actions: buttonsOf(locale, link, { ...mayOf(visit), hasWords: true }),
        }),
        h(
          'div',
          { class: 'card' },
          detailList([
            [links.address, externalLink(link.url)],
            [links.status, statusBadge(locale, link.status)],
            [links.firstSeen, time(locale, link.firstSeen, 'whole')],
            [links.lastSeen, time(locale, link.lastSeen, 'whole')],
            [links.authors, authors.length > 0 ? h('ul', null, authors) : links.noAuthors],
            [links.newsletters, h('ul', null, newsletters)],
          ]),
        ),
        section(links.why, explanation(locale, score)),
        actionsFormElement(),
      ],
    };
  },
});

/** The score as the sum that it is. */
function explanation(locale: Locale, { base, priorityScore, factors }: AnswerOf<typeof ScoreExplanation>): VNode {
  const { links } = locale.t;
  const { author, keyword, recency, popularity } = factors;
  const names = (given: readonly string[]): ComponentChildren => (given.length > 0 ? h('span', { class: 'quiet' }, ` (${given.join(', ')})`) : null);
  const rows: readonly (readonly [ComponentChildren, number | undefined, number])[] = [
    [links.base, undefined, base],
    [[links.byAuthor, names(author.authors.map(({ name }) => name))], author.sampleSize, author.contribution],
    [[links.byWords, names(keyword.keywords.map(({ keyword: word }) => word))], keyword.sampleSize, keyword.contribution],
    [links.byAge, undefined, recency.contribution],
    [links.byNewsletters, popularity.sampleSize, popularity.contribution],
  ];
  const number = (value: number | undefined) => h('td', { class: 'number' }, value === undefined ? '' : locale.format.number(Math.round(100 * value) / 100));
  const head = [h('th', { scope: 'col' }, links.part), ...[links.observed, links.adds].map((label) => h('th', { scope: 'col', class: 'number' }, label))];
  return h(
    'table',
    { class: 'sum card' },
    h('thead', null, h('tr', null, head)),
    h(
      'tbody',
      null,
      rows.map(([label, sample, adds]) => h('tr', null, h('th', { scope: 'row' }, label), number(sample), number(adds))),
    ),
    h(
      'tfoot',
      null,
      h('tr', null, h('th', { scope: 'row' }, links.score), h('td', null), h('td', { class: 'number strong' }, locale.format.number(priorityScore))),
    ),
  );
}

export const linkPages = [queue, one, ...decisions];
