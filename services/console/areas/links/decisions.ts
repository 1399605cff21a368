// Decisions on links: one, several, and one that becomes a bookmark; each can be taken back.
import { z } from 'zod';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { BulkResult, LinkDetail, LinkItem, maxBulkIds } from '../../../link-digest/contract.ts';
import { Common } from '../../../platform/problem.ts';
import { Problems } from '../../contract.ts';
import { action, ById, fieldList, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { One, Status } from './digest.ts';

const find = async ({ ask }: Pick<Visit, 'ask'>, id: string) => (await ask('digest').get(pathOf`/api/links/${id}`, One(LinkDetail))).data;

const decideOn = ({ ask }: Pick<Visit, 'ask'>, id: string, status: z.output<typeof Status>) =>
  ask('digest').send({ method: 'PUT', path: pathOf`/api/links/${id}/status`, body: { status } }, One(LinkItem));

const decide = action({
  path: '/links/{id}/decide',
  area: 'links',
  params: ById,
  form: z.object({ status: Status }),
  async run(visit) {
    const { id } = visit.params;
    const { status } = visit.form;
    const { title, status: before } = await find(visit, id);
    await decideOn(visit, id, status);
    return {
      message: visit.locale.t.links.decided[status](title),
      target: `${status}: ${id}`,
      name: title,
      undo: { path: `/links/${id}/decide`, fields: { status: before } },
    };
  },
});

/** The ids as boxes, or as one text where it takes another decision back. */
const Many = z.object({ status: Status, was: Status.optional(), id: fieldList(maxBulkIds), ids: z.string().optional() });

const decideMany = action({
  path: '/links/decide',
  area: 'links',
  form: Many,
  async run({ form: { status, was, id, ids }, ask, locale }) {
    const { links } = locale.t;
    const all = [...id, ...(ids?.split(',') ?? [])];
    if (all.length === 0) throw Common.invalid({ detail: links.nothingSelected });
    const { data } = await ask('digest').send({ method: 'POST', path: '/api/links/bulk', body: { ids: all, status } }, One(BulkResult));
    const undo = was && { path: '/links/decide', fields: { status: was, was: status, ids: all.join(',') } };
    return { message: links.decidedMany[status](data.updated), target: `${status}: ${all.length} links`, ...(undo && { undo }) };
  },
});

/** @throws Problem 403: the bookmarks are another area, with roles of its own */
function requireBookmarks({ may }: Pick<Visit, 'may'>): void {
  if (!may('bookmarks', 'editor')) throw Problems.roleMissing({ area: 'bookmarks', role: 'editor' });
}

const toBookmarks = action({
  path: '/links/{id}/bookmark',
  area: 'links',
  params: ById,
  form: z.object({}),
  async run(visit) {
    requireBookmarks(visit);
    const { ask, locale, params } = visit;
    const { title, url, status } = await find(visit, params.id);
    const bookmarks = ask('bookmarks');
    const same = await bookmarks.get('/api/bookmarks', z.array(Bookmark), { url });
    const added =
      same.length > 0 ? undefined : await bookmarks.send({ method: 'POST', path: '/api/bookmarks', body: { url, title: title.slice(0, 500) } }, Bookmark);
    await decideOn(visit, params.id, 'Liked');
    const { links } = locale.t;
    const undo = { path: `/links/${params.id}/unbookmark`, fields: { status, ...(added && { bookmark: added.id }) } };
    return { message: added ? links.bookmarked(title) : links.bookmarkedBefore(title), target: params.id, name: title, undo };
  },
});

const takeBack = action({
  path: '/links/{id}/unbookmark',
  area: 'links',
  params: ById,
  form: z.object({ status: Status, bookmark: z.string().optional() }),
  async run(visit) {
    requireBookmarks(visit);
    const { ask, locale, params, form } = visit;
    const { title } = await find(visit, params.id);
    if (form.bookmark !== undefined) await ask('bookmarks').send({ method: 'DELETE', path: pathOf`/api/bookmarks/${form.bookmark}` }, z.undefined());
    await decideOn(visit, params.id, form.status);
    return { message: locale.t.links.unbookmarked(title), target: params.id, name: title };
  },
});

export const decisions = [decide, decideMany, toBookmarks, takeBack];
