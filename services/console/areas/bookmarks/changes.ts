// Changes of bookmarks in the list, one and several; each can be taken back.
import { z } from 'zod';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { BulkResult } from '../../../bookmarks/many/contract.ts';
import { Common } from '../../../platform/problem.ts';
import { action, ById, fieldList, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { bookmarkOf, namesIn, path, type Saved } from './catalogue.ts';

/** As many as a page of the list has: each is read before it changes, so that the change can be taken back. */
const mostAtOnce = 100;
/** Pictures within bookmarks take most of it. */
const mostRestoredBytes = 2 * 1_048_576;

/** The members that a bookmark is made of again; the catalogue gives it another id. */
const withoutId = ({ id: _, dateAdded: __, ...rest }: Saved) => rest;

const create = ({ ask }: Pick<Visit, 'ask'>, bookmark: unknown) => ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks', body: bookmark }, Bookmark);
const patch = ({ ask }: Pick<Visit, 'ask'>, id: string, members: object) =>
  ask('bookmarks').send({ method: 'PATCH', path: pathOf`/api/bookmarks/${id}`, body: members }, Bookmark);

const JsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

const remove = action({
  path: '/bookmarks/{id}/delete',
  area: 'bookmarks',
  params: ById,
  form: z.object({}),
  async run(visit) {
    const { params, locale, ask } = visit;
    const before = await bookmarkOf(visit, params.id);
    await ask('bookmarks').send({ method: 'DELETE', path: pathOf`/api/bookmarks/${params.id}` }, z.undefined());
    const undo = { path: `${path}/restore`, fields: { bookmark: JSON.stringify(withoutId(before)) } };
    return { message: locale.t.bookmarks.deleted(before.title), target: params.id, undo };
  },
});

const restore = action({
  path: '/bookmarks/restore',
  area: 'bookmarks',
  form: z.object({ bookmark: JsonText }),
  async run(visit) {
    const { title, id } = await create(visit, visit.form.bookmark);
    return { message: visit.locale.t.bookmarks.restored(title), target: id };
  },
});

const favorite = action({
  path: '/bookmarks/{id}/favorite',
  area: 'bookmarks',
  params: ById,
  form: z.object({ favorite: z.enum(['true', 'false']) }),
  async run(visit) {
    const { params, form, locale } = visit;
    const isFavorite = form.favorite === 'true';
    const { title } = await patch(visit, params.id, { favorite: isFavorite });
    const { bookmarks } = locale.t;
    const undo = { path: `${path}/${params.id}/favorite`, fields: { favorite: String(!isFavorite) } };
    return { message: isFavorite ? bookmarks.isFavorite(title) : bookmarks.isNoFavorite(title), target: params.id, undo };
  },
});

const Ids = fieldList(mostAtOnce);

async function selected(visit: Pick<Visit, 'ask' | 'locale'>, ids: readonly string[]): Promise<Saved[]> {
  if (ids.length === 0) throw Common.invalid({ detail: visit.locale.t.bookmarks.nothingSelected });
  return Promise.all(ids.map((id) => bookmarkOf(visit, id)));
}

type Change = { readonly action: 'move'; readonly folderId: string | null } | { readonly action: 'tag' | 'untag'; readonly tags: readonly string[] };

/** A change of members that are remembered for its undo. */
async function changeMany(visit: Pick<Visit, 'ask' | 'locale'>, ids: readonly string[], change: Change) {
  const before = (await selected(visit, ids)).map(({ id, folderId, tags }) => ({ id, folderId, tags }));
  const { updated } = await visit.ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks/bulk', body: { ...change, ids } }, BulkResult);
  const undo = { path: `${path}/many/put-back`, fields: { before: JSON.stringify(before) } };
  return { message: visit.locale.t.bookmarks.changedMany(updated), target: `${ids.length} bookmarks`, undo };
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

const Before = z.array(z.object({ id: z.string(), folderId: z.string().nullable(), tags: z.array(z.string()) })).max(mostAtOnce);

const putBack = action({
  path: '/bookmarks/many/put-back',
  area: 'bookmarks',
  form: z.object({ before: JsonText.pipe(Before) }),
  maxFormBytes: mostRestoredBytes,
  async run(visit) {
    const { before } = visit.form;
    for (const { id, ...members } of before) await patch(visit, id, members);
    return { message: visit.locale.t.bookmarks.restoredMany(before.length), target: `${before.length} bookmarks` };
  },
});

const removeMany = action({
  path: '/bookmarks/many/delete',
  area: 'bookmarks',
  form: z.object({ id: Ids }),
  async run(visit) {
    const { form, ask, locale } = visit;
    const before = (await selected(visit, form.id)).map(withoutId);
    const { updated } = await ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks/bulk', body: { action: 'delete', ids: form.id } }, BulkResult);
    const undo = { path: `${path}/many/restore`, fields: { bookmarks: JSON.stringify(before) } };
    return { message: locale.t.bookmarks.deletedMany(updated), target: `${form.id.length} bookmarks`, undo };
  },
});

const restoreMany = action({
  path: '/bookmarks/many/restore',
  area: 'bookmarks',
  form: z.object({ bookmarks: JsonText.pipe(z.array(z.unknown()).max(mostAtOnce)) }),
  maxFormBytes: mostRestoredBytes,
  async run(visit) {
    const { bookmarks } = visit.form;
    for (const bookmark of bookmarks) await create(visit, bookmark);
    return { message: visit.locale.t.bookmarks.restoredMany(bookmarks.length), target: `${bookmarks.length} bookmarks` };
  },
});

/** The changes of several come first: `many` would be an id. */
export const changes = [move, tag, untag, putBack, removeMany, restoreMany, remove, restore, favorite];
