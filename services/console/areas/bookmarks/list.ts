// The list of bookmarks beside its folders and tags.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Bookmark, type Counts } from '../../../bookmarks/contract.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { page, pageRows } from '../../pages.ts';
import { type Chip, chips, filterForm } from '../../view/filters.ts';
import { actionButton, actionsFormElement, actionsFor, bulkBar, onlyIcon, rowList, selectBox } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { icon } from '../../view/icons.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { pageHead } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, count, dotted, externalRowLink, hostOf, time } from '../../view/texts.ts';
import { type Branch, countsOf, folderOptions, foldersOf, ListQuery, path, type Saved, treeOf } from './catalogue.ts';

/** A bookmark has all of its tags on its own page. */
const shownTags = 8;
/** More tags are on the page of tags. */
const mostTags = 30;

export const list = page({
  path,
  area: 'bookmarks',
  query: ListQuery,
  repeatable: ['tag'],
  async show(visit) {
    const { locale, query, ask, may } = visit;
    const { folder, sort, ...asked } = query;
    const { items, next, tag } = await ask('bookmarks').getLinked('/api/bookmarks', z.array(Bookmark), {
      ...asked,
      folderId: folder,
      sort: sort ?? (query.q === undefined ? 'newest' : undefined),
      include: query.dead && 'check',
      limit: pageRows,
    });
    // Asked for after the list, since its tag says whether they have changed: beside it every page would ask for both.
    const [counts, folders] = await Promise.all([countsOf(visit, tag), foldersOf(visit, tag)]);
    const tree = treeOf(folders, locale.format.compare);
    const mayChange = may('bookmarks', 'editor');
    return {
      title: locale.t.view.areas.bookmarks,
      body: [
        head(locale, mayChange),
        views(locale, counts, query),
        h(
          'div',
          { class: 'beside' },
          sides(locale, { tree, counts, query, mayChange }),
          h(
            'div',
            { class: 'part' },
            filters(locale, query),
            items.length > 0 ? rows(locale, items, mayChange) : nothing(locale, counts),
            items.length > 0 && mayChange ? bulk(locale, tree) : null,
            items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
          ),
        ),
        actionsFormElement(),
      ],
    };
  },
});

function head({ t: { bookmarks, view } }: Locale, mayChange: boolean): VNode {
  const add = h('a', { class: 'button primary', href: `${path}/new`, 'data-key': 'n' }, icon('add'), bookmarks.add);
  const files = h('a', { class: 'button', href: `${path}/files` }, bookmarks.files);
  return pageHead({ title: view.areas.bookmarks, actions: [files, mayChange ? add : null] });
}

const nothing = (locale: Locale, { total }: CountsOf) => (total === 0 ? empty(locale.t.bookmarks.empty) : filteredEmpty(locale, path));

type CountsOf = AnswerOf<typeof Counts>;

function views(locale: Locale, counts: CountsOf, query: ListQuery): VNode {
  const { bookmarks } = locale.t;
  const view = (label: string, member: 'favorite' | 'untagged' | 'dead', total: number): Chip => ({
    label,
    href: withQuery(path, { [member]: 'true' }),
    count: total,
    isCurrent: query[member] === 'true',
  });
  const isAll = [query.favorite, query.untagged, query.dead, query.folder, query.tag?.[0]].every((given) => given === undefined);
  return chips(locale, bookmarks.list, [
    { label: bookmarks.all, href: path, count: counts.total, isCurrent: isAll },
    view(bookmarks.favorites, 'favorite', counts.favorites),
    view(bookmarks.untagged, 'untagged', counts.untagged),
    view(bookmarks.dead, 'dead', counts.dead),
  ]);
}

type Sides = { readonly tree: readonly Branch[]; readonly counts: CountsOf; readonly query: ListQuery; readonly mayChange: boolean };

function sides(locale: Locale, { tree, counts, query, mayChange }: Sides): VNode {
  const { bookmarks } = locale.t;
  const inFolder = new Map(counts.folders.map(({ id, count: total }) => [id, total]));
  const link = (href: string, name: string, rest: { readonly total: number; readonly isCurrent: boolean; readonly depth?: number }) =>
    h(
      'li',
      { class: `depth-${Math.min(rest.depth ?? 0, 6)}` },
      h('a', { href, 'aria-current': rest.isCurrent ? 'true' : undefined }, name),
      count(locale, rest.total),
    );
  const folders = tree.map(({ folder: { id, name }, depth }) =>
    link(withQuery(path, { folder: id }), name, { total: inFolder.get(id) ?? 0, isCurrent: query.folder === id, depth }),
  );
  const used = counts.tags.filter(({ count: total }) => total > 0).toSorted((one, other) => other.count - one.count);
  const tags = used
    .slice(0, mostTags)
    .map(({ name, count: total }) => link(withQuery(path, { tag: name }), name, { total, isCurrent: query.tag?.[0] === name }));
  // On a phone they are folded, as the list comes below them.
  const chosen = query.tag?.[0] ?? tree.find(({ folder }) => folder.id === query.folder)?.folder.name;
  const more = (href: string, label: string) => h('li', null, h('a', { class: 'more', href }, label));
  return h(
    'details',
    { class: 'sides' },
    h('summary', null, chosen === undefined ? `${bookmarks.folders}, ${bookmarks.tags}` : h('strong', null, chosen)),
    h(
      'nav',
      { 'aria-label': bookmarks.folders },
      h('h2', null, bookmarks.folders),
      h('ul', null, folders, mayChange ? more(`${path}/folders`, bookmarks.changeFolders) : null),
    ),
    h(
      'nav',
      { 'aria-label': bookmarks.tags },
      h('h2', null, bookmarks.tags),
      h('ul', null, tags, more(`${path}/tags`, mayChange ? bookmarks.changeTags : bookmarks.allTags)),
    ),
  );
}

function filters(locale: Locale, query: ListQuery): VNode {
  const { bookmarks } = locale.t;
  const { orders } = bookmarks;
  const sorts = (['newest', 'oldest', 'title'] as const).map((value) => ({ value, label: orders[value] }));
  return filterForm(locale, {
    path,
    query,
    kept: ['folder', 'tag', 'favorite', 'untagged', 'dead'],
    filters: [
      { kind: 'search', name: 'q', label: bookmarks.search },
      { kind: 'choice', name: 'sort', label: bookmarks.order, any: query.q === undefined ? orders.newest : orders.best, options: sorts },
    ],
  });
}

const rows = (locale: Locale, items: readonly Saved[], mayChange: boolean): VNode =>
  rowList({
    label: locale.t.bookmarks.list,
    kind: 'lines',
    items,
    idOf: ({ id }) => id,
    content: (bookmark) => [
      mayChange ? selectBox(locale, bookmark.id, bookmark.title) : null,
      h('div', { class: 'text' }, externalRowLink(bookmark.url, bookmark.title), about(locale, bookmark), excerpt(bookmark.description)),
      mayChange ? buttons(locale, bookmark) : null,
    ],
  });

function about(locale: Locale, { url, tags, dateAdded, favorite, dead, status }: Saved): VNode {
  const { bookmarks } = locale.t;
  return dotted(
    favorite ? badge('info', bookmarks.favorite) : null,
    dead ? badge('bad', bookmarks.deadSince(status == null ? bookmarks.noAnswer : String(status))) : null,
    hostOf(url),
    ...tags.slice(0, shownTags).map((tag) => h('a', { href: withQuery(path, { tag }) }, tag)),
    tags.length > shownTags ? `+${tags.length - shownTags}` : null,
    time(locale, dateAdded),
  );
}

const mostCharacters = 160;
const excerpt = (text: string) =>
  text === '' ? null : h('span', { class: 'excerpt' }, text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

function buttons(locale: Locale, { id, title, favorite }: Saved): VNode {
  const { bookmarks } = locale.t;
  const look = { tone: 'plain', isIconOnly: true } as const;
  const mark = { label: favorite ? bookmarks.favoriteOff : bookmarks.favoriteOn, field: ['favorite', favorite ? 'false' : 'true'] } as const;
  return actionsFor(
    title,
    actionButton({ ...look, ...mark, path: `${path}/${id}/favorite`, icon: 'like', key: '*', inPlace: 'stay' }),
    h(
      'a',
      { class: `button plain ${onlyIcon('edit')}`, href: `${path}/${id}`, title: `${bookmarks.edit} (e)`, 'data-key': 'e', 'data-key-label': bookmarks.edit },
      bookmarks.edit,
    ),
    actionButton({ ...look, path: `${path}/${id}/delete`, label: bookmarks.delete, icon: 'delete', key: 'd', inPlace: 'leave' }),
  );
}

function bulk(locale: Locale, tree: readonly Branch[]): VNode {
  const { bookmarks } = locale.t;
  const options = folderOptions(tree, bookmarks.noFolder).map(({ value, label }) => h('option', { value }, label));
  const fields = [
    h('label', null, h('span', { class: 'unseen' }, bookmarks.toFolder), h('select', { name: 'folder' }, options)),
    h('label', null, h('span', { class: 'unseen' }, bookmarks.withTags), h('input', { name: 'tags', placeholder: bookmarks.withTags })),
  ];
  return bulkBar(
    locale,
    [
      { path: `${path}/many/move`, label: bookmarks.move, tone: 'plain' },
      { path: `${path}/many/tag`, label: bookmarks.tag, tone: 'plain' },
      { path: `${path}/many/untag`, label: bookmarks.untag, tone: 'plain' },
      { path: `${path}/many/delete`, label: bookmarks.delete, icon: 'delete', tone: 'plain', inPlace: 'leave' },
    ],
    fields,
  );
}
