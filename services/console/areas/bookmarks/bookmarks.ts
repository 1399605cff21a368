// Bookmarks: the list, and deleting one.
import { z } from 'zod';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { action, page } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { actionButton, actionsFormElement, table } from '../../view/lists.ts';
import { pager } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { externalRowLink, time } from '../../view/texts.ts';

const pageRows = 50;
const path = '/bookmarks';
const ById = z.object({ id: z.string() });
const ListQuery = z.object({ q: z.string().optional(), after: z.string().optional() });

const list = page({
  path,
  area: 'bookmarks',
  query: ListQuery,
  async show({ locale, query: { q, after }, ask, may }) {
    const { bookmarks } = locale.t;
    const { items, next } = await ask('bookmarks').getLinked('/api/bookmarks', z.array(Bookmark), {
      q,
      after,
      sort: q === undefined ? 'newest' : undefined,
      limit: pageRows,
    });
    const columns = [
      { label: bookmarks.title, kind: 'main', cell: ({ url, title }: (typeof items)[number]) => externalRowLink(locale, url, title) },
      { label: bookmarks.tags, kind: 'minor', cell: ({ tags }: (typeof items)[number]) => locale.format.list(tags) },
      { label: bookmarks.added, cell: ({ dateAdded }: (typeof items)[number]) => time(locale, dateAdded) },
      ...(may('bookmarks', 'editor')
        ? [{ label: bookmarks.actions, kind: 'actions', cell: ({ id }: (typeof items)[number]) => deleteButton(id, bookmarks.delete) } as const]
        : []),
    ] as const;
    const shown =
      items.length > 0
        ? table({ caption: bookmarks.list, columns, items, idOf: ({ id }) => id })
        : q === undefined
          ? empty(bookmarks.empty)
          : filteredEmpty(locale, path);
    return {
      title: locale.t.view.areas.bookmarks,
      body: [
        pageHead({ title: locale.t.view.areas.bookmarks }),
        shown,
        pager(locale, { path, query: { q, after }, shown: items.length, next }),
        actionsFormElement(),
      ],
    };
  },
});

const deleteButton = (id: string, label: string) =>
  actionButton({ path: `${path}/${id}/delete`, label, icon: 'no', key: 'd', inPlace: 'leave', isIconOnly: true });

const remove = action({
  path: '/bookmarks/{id}/delete',
  area: 'bookmarks',
  params: ById,
  form: z.object({}),
  async run({ params: { id }, locale, ask }) {
    const bookmarks = ask('bookmarks');
    const { dateAdded: _, ...before } = await bookmarks.get(pathOf`/api/bookmarks/${id}`, Bookmark);
    await bookmarks.send({ method: 'DELETE', path: pathOf`/api/bookmarks/${id}` }, z.undefined());
    const undo = { path: `${path}/restore`, fields: { bookmark: JSON.stringify(before) } };
    return { message: locale.t.bookmarks.deleted(before.title), target: before.title, undo };
  },
});

/** The catalogue gives it another id. */
const restore = action({
  path: '/bookmarks/restore',
  area: 'bookmarks',
  form: z.object({ bookmark: z.string() }),
  async run({ form: { bookmark }, locale, ask }) {
    const { title } = await ask('bookmarks').send(
      { method: 'POST', path: '/api/bookmarks', body: bookmark, headers: { 'Content-Type': 'application/json' } },
      Bookmark,
    );
    return { message: locale.t.bookmarks.restored(title), target: title };
  },
});

export const bookmarkPages = [list, remove, restore];
