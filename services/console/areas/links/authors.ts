// Authors of links: their list, and one with the decisions on the links.
import { z } from 'zod';
import type { StatusCounts } from '../../../link-digest/contract.ts';
import { AuthorDetail, AuthorItem } from '../../../link-digest/authors/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { ById, page, pageRows } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { tiles } from '../../view/details.ts';
import { actionsFormElement, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty } from '../../view/states.ts';
import { externalLink } from '../../view/texts.ts';
import { areaTabs, One, Page } from './digest.ts';
import { decidedRows, mayOf } from './link-rows.ts';

const path = '/authors';
type Author = AnswerOf<typeof AuthorItem>;

const list = page({
  path,
  area: 'links',
  query: z.object({ after: z.string().optional() }),
  async show({ locale, query, ask }) {
    const { links } = locale.t;
    const { data: items, next } = await ask('digest').get('/api/authors', Page(AuthorItem), { ...query, limit: pageRows, include: 'interactions' });
    const columns = [
      { label: links.author, kind: 'main', cell: ({ id, name }: Author) => rowLink(`${path}/${id}`, name) },
      { label: links.handle, cell: ({ handle }: Author) => handle && `@${handle}` },
      { label: links.domain, kind: 'minor', cell: ({ customDomain }: Author) => customDomain && externalLink(`https://${customDomain}`, customDomain) },
      { label: links.linksCount, kind: 'number', cell: ({ linkCount }: Author) => locale.format.number(linkCount) },
      { label: links.liked, kind: 'number', cell: ({ interactionCounts }: Author) => interactionCounts && likedShare(locale, interactionCounts) },
    ] as const;
    return {
      title: links.authors,
      body: [
        pageHead({ title: links.authors }),
        areaTabs(locale, path),
        items.length > 0 ? table({ caption: links.authors, columns, items, idOf: ({ id }) => id }) : empty(links.noAuthorsYet),
        items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
      ],
    };
  },
});

/** The share of the liked among those that were decided on. */
function likedShare({ format }: Locale, { Liked, Discarded, DiscardedAfterReview }: AnswerOf<typeof StatusCounts>): string {
  const decided = Liked + Discarded + DiscardedAfterReview;
  return decided === 0 ? '–' : format.percent(Liked / decided);
}

const one = page({
  path: '/authors/{id}',
  area: 'links',
  params: ById,
  async show(visit) {
    const { locale, params, ask } = visit;
    const { links } = locale.t;
    const { data: author } = await ask('digest').get(pathOf`/api/authors/${params.id}`, One(AuthorDetail));
    const { Awaiting, Liked, Discarded, DiscardedAfterReview } = author.interactionCounts;
    const { number } = locale.format;
    return {
      title: author.name,
      body: [
        pageHead({ title: author.name, trail: [{ label: links.authors, href: path }], lead: author.handle && `@${author.handle}` }),
        tiles([
          { label: links.liked, value: likedShare(locale, author.interactionCounts) },
          { label: links.statuses.Awaiting, value: number(Awaiting) },
          { label: links.statuses.Liked, value: number(Liked) },
          { label: links.statuses.Discarded, value: number(Discarded) },
          { label: links.statuses.DiscardedAfterReview, value: number(DiscardedAfterReview) },
        ]),
        section(links.list, decidedRows(locale, author.links.slice(0, pageRows), mayOf(visit))),
        actionsFormElement(),
      ],
    };
  },
});

export const authorPages = [list, one];
