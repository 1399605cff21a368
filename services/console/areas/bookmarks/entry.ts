// One bookmark: added, with the title of its page and a warning where it is there already, or changed.
import { h, type VNode } from 'preact';
import { z } from 'zod';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { Problem } from '../../../platform/problem.ts';
import { action, ById, fieldCheck, type Fields, fieldText, page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { pageHead } from '../../view/shell.ts';
import { externalLink, safeUrl } from '../../view/texts.ts';
import { bookmarkOf, folderOptions, foldersOf, namesIn, path, type Saved, treeOf } from './catalogue.ts';

const Preview = z.object({ title: z.string(), description: z.string(), thumbnail: z.string(), existing: z.array(Bookmark) });

/** A phone's share sheet sends the address as `url`, or within `text`. */
const NewQuery = z.object({ url: z.string().optional(), title: z.string().optional(), text: z.string().optional() });

type Entry = {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly tags: string;
  readonly folder: string;
  readonly favorite: boolean;
};
const nothing: Entry = { url: '', title: '', description: '', tags: '', folder: '', favorite: false };

const add = page({
  path: '/bookmarks/new',
  area: 'bookmarks',
  role: 'editor',
  query: NewQuery,
  async show(visit) {
    const { query, locale } = visit;
    const { bookmarks } = locale.t;
    const shared = query.url ?? /https?:\/\/\S+/.exec(query.text ?? '')?.[0] ?? '';
    const page = safeUrl(shared) ? await previewOf(visit, shared) : undefined;
    const given = query.title ?? '';
    const title = given === '' ? (page?.title ?? '') : given;
    const hint = page && (title === '' ? bookmarks.notLookedUp : bookmarks.lookedUp);
    const entry = { ...nothing, url: shared, title, description: page?.description ?? '' };
    return {
      title: bookmarks.add,
      body: [
        head(visit, bookmarks.add),
        warning(visit, page?.existing ?? []),
        shared === '' ? lookUp(visit) : null,
        await entryForm(visit, { action: path, entry, hint }),
      ],
    };
  },
});

/** A page that cannot be asked is added by hand. */
async function previewOf({ ask }: Pick<Visit, 'ask'>, url: string) {
  try {
    return await ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks/preview', body: { url } }, Preview);
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return undefined;
    throw error;
  }
}

const head = ({ locale }: Pick<Visit, 'locale'>, title: string): VNode => pageHead({ title, trail: [{ label: locale.t.view.areas.bookmarks, href: path }] });

function warning({ locale }: Pick<Visit, 'locale'>, existing: readonly Saved[]): VNode | null {
  if (existing.length === 0) return null;
  const items = existing.map(({ id, title }) => h('li', null, h('a', { href: `${path}/${id}` }, title)));
  return h(
    'div',
    { class: 'stale', role: 'status' },
    icon('warning'),
    h('div', null, h('p', { class: 'strong' }, locale.t.bookmarks.existing(existing.length)), h('ul', null, items)),
  );
}

/** Without an address the page is looked up first; the form below takes everything by hand. */
const lookUp = ({ locale }: Pick<Visit, 'locale'>): VNode =>
  h(
    'form',
    { class: 'inline', action: `${path}/new` },
    field(locale, { kind: 'url', name: 'url', label: locale.t.bookmarks.address, isRequired: true }),
    h('button', null, locale.t.bookmarks.lookUp),
  );

type EntryForm = { readonly action: string; readonly entry: Entry; readonly hint?: string | undefined; readonly faults?: Faults };

async function entryForm(visit: Pick<Visit, 'ask' | 'locale'>, { action: to, entry, hint, faults }: EntryForm): Promise<VNode> {
  const { locale } = visit;
  const { bookmarks } = locale.t;
  const options = folderOptions(treeOf(await foldersOf(visit), locale.format.compare), bookmarks.noFolder);
  return form(
    locale,
    { path: to, submit: bookmarks.save, cancel: path, faults },
    field(locale, { kind: 'url', name: 'url', label: bookmarks.address, value: entry.url, isRequired: true, faults }),
    field(locale, { kind: 'text', name: 'title', label: bookmarks.title, value: entry.title, isRequired: true, hint, faults }),
    field(locale, { kind: 'lines', name: 'description', label: bookmarks.description, value: entry.description, faults }),
    field(locale, { kind: 'text', name: 'tags', label: bookmarks.tags, value: entry.tags, hint: bookmarks.tagsHint, faults }),
    field(locale, { kind: 'choice', name: 'folder', label: bookmarks.folder, value: entry.folder, options, faults }),
    field(locale, { kind: 'check', name: 'favorite', label: bookmarks.favorite, isChecked: entry.favorite }),
  );
}

const Entered = z.object({ url: z.string(), title: z.string(), description: z.string(), tags: z.string(), folder: z.string(), favorite: fieldCheck });

const bodyOf = ({ url, title, description, tags, folder, favorite }: z.output<typeof Entered>) => ({
  url,
  title,
  description,
  tags: namesIn(tags),
  folderId: folder || null,
  favorite,
});

const enteredIn = (fields: Fields): Entry => ({
  url: fieldText(fields, 'url'),
  title: fieldText(fields, 'title'),
  description: fieldText(fields, 'description'),
  tags: fieldText(fields, 'tags'),
  folder: fieldText(fields, 'folder'),
  favorite: fieldText(fields, 'favorite') === 'true',
});

const create = action({
  path,
  area: 'bookmarks',
  form: Entered,
  async run({ form: entered, ask, locale }) {
    const { id, title } = await ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks', body: bodyOf(entered) }, Bookmark);
    return { message: locale.t.bookmarks.saved(title), target: id, to: path, undo: { path: `${path}/${id}/delete`, fields: {} } };
  },
  async again(visit) {
    const { bookmarks } = visit.locale.t;
    const { fields, faults } = visit;
    return { title: bookmarks.add, body: [head(visit, bookmarks.add), await entryForm(visit, { action: path, entry: enteredIn(fields), faults })] };
  },
});

const edit = page({
  path: '/bookmarks/{id}',
  area: 'bookmarks',
  role: 'editor',
  params: ById,
  async show(visit) {
    const bookmark = await bookmarkOf(visit, visit.params.id);
    const { url, title, description, tags, folderId, favorite } = bookmark;
    const entry = { url, title, description, tags: tags.join(', '), folder: folderId ?? '', favorite };
    return {
      title,
      body: [head(visit, title), h('p', null, externalLink(visit.locale, url)), await entryForm(visit, { action: `${path}/${bookmark.id}`, entry })],
    };
  },
});

const change = action({
  path: '/bookmarks/{id}',
  area: 'bookmarks',
  params: ById,
  form: Entered,
  async run({ params, form: entered, ask, locale }) {
    const { title } = await ask('bookmarks').send({ method: 'PATCH', path: pathOf`/api/bookmarks/${params.id}`, body: bodyOf(entered) }, Bookmark);
    return { message: locale.t.bookmarks.saved(title), target: params.id, to: path };
  },
  async again(visit) {
    const { fields, faults, params, locale } = visit;
    const { bookmarks } = locale.t;
    return {
      title: bookmarks.edit,
      body: [head(visit, bookmarks.edit), await entryForm(visit, { action: `${path}/${params.id}`, entry: enteredIn(fields), faults })],
    };
  },
});

export const entryPages = [add, create];
/** The last ones of the area: the parameter in their path takes any word. */
export const bookmarkPages = [edit, change];
