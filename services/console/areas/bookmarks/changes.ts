// Changes of bookmarks in the list, one and several, and what takes changes back.
import { z } from 'zod';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { type BulkInput, BulkResult } from '../../../bookmarks/many/contract.ts';
import { Undone } from '../../../bookmarks/undo/contract.ts';
import { Common } from '../../../platform/problem.ts';
import { action, ById, fieldList, noFields, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { bookmarkOf, change, namesIn, path } from './catalogue.ts';

const remove = action({
  path: '/bookmarks/{id}/delete',
  area: 'bookmarks',
  params: ById,
  form: noFields,
  async run(visit) {
    const { params, locale } = visit;
    const { title } = await bookmarkOf(visit, params.id);
    const { answer: _, ...taken } = await change(visit, { method: 'DELETE', path: pathOf`/api/bookmarks/${params.id}` }, z.undefined());
    return { message: locale.t.bookmarks.deleted(title), target: params.id, name: title, ...taken };
  },
});

const favorite = action({
  path: '/bookmarks/{id}/favorite',
  area: 'bookmarks',
  params: ById,
  form: z.object({ favorite: z.enum(['true', 'false']) }),
  async run({ params, form, locale, ask }) {
    const isFavorite = form.favorite === 'true';
    const members = { favorite: isFavorite };
    const { title } = await ask('bookmarks').send({ method: 'PATCH', path: pathOf`/api/bookmarks/${params.id}`, body: members }, Bookmark);
    const { bookmarks } = locale.t;
    const undo = { path: `${path}/${params.id}/favorite`, fields: { favorite: String(!isFavorite) } };
    return { message: isFavorite ? bookmarks.isFavorite(title) : bookmarks.isNoFavorite(title), target: params.id, name: title, undo };
  },
});

const Ids = fieldList(500);

type Change = BulkInput extends infer Each ? (Each extends { readonly ids: unknown } ? Omit<Each, 'ids'> : never) : never;

async function changeMany(visit: Pick<Visit, 'ask' | 'locale'>, ids: readonly string[], how: Change) {
  const { bookmarks } = visit.locale.t;
  if (ids.length === 0) throw Common.invalid({ detail: bookmarks.nothingSelected });
  const { answer, ...taken } = await change(visit, { method: 'POST', path: '/api/bookmarks/bulk', body: { ...how, ids } }, BulkResult);
  const message = how.action === 'delete' ? bookmarks.deletedMany(answer.updated) : bookmarks.changedMany(answer.updated);
  return { message, target: `${ids.length} bookmarks`, ...taken };
}

const move = action({
  path: '/bookmarks/many/move',
  area: 'bookmarks',
  form: z.object({ id: Ids, folder: z.string() }),
  run: (visit) => changeMany(visit, visit.form.id, { action: 'move', folderId: visit.form.folder || null }),
});

const tag = action({
  path: '/bookmarks/many/tag',
  area: 'bookmarks',
  form: z.object({ id: Ids, tags: z.string() }),
  run: (visit) => changeMany(visit, visit.form.id, { action: 'tag', tags: namesIn(visit.form.tags) }),
});

const untag = action({
  path: '/bookmarks/many/untag',
  area: 'bookmarks',
  form: z.object({ id: Ids, tags: z.string() }),
  run: (visit) => changeMany(visit, visit.form.id, { action: 'untag', tags: namesIn(visit.form.tags) }),
});

const removeMany = action({
  path: '/bookmarks/many/delete',
  area: 'bookmarks',
  form: z.object({ id: Ids }),
  run: (visit) => changeMany(visit, visit.form.id, { action: 'delete' }),
});

const undo = action({
  path: '/bookmarks/undo/{id}',
  area: 'bookmarks',
  params: ById,
  form: noFields,
  async run({ params, locale, ask }) {
    await ask('bookmarks').send({ method: 'POST', path: pathOf`/api/undo/${params.id}` }, Undone);
    return { message: locale.t.bookmarks.undone, target: params.id };
  },
});

/** The changes of several come first: `many` would be an id. */
export const changes = [move, tag, untag, removeMany, undo, remove, favorite];
