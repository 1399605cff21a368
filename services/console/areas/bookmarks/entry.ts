// One bookmark: added, with the title of its page and a warning where it is there already, or changed.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Bookmark } from '../../../bookmarks/contract.ts';
import { Common, Problem } from '../../../platform/problem.ts';
import { Problems } from '../../contract.ts';
import { action, ById, fieldCheck, type Fields, fieldText, page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { copyable, detailList } from '../../view/details.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import { icon } from '../../view/icons.ts';
import { hiddenFields } from '../../view/notice.ts';
import { pageHead, section } from '../../view/shell.ts';
import { externalLink, safeUrl } from '../../view/texts.ts';
import { type Branch, folderOptions, foldersOf, namesIn, path, type Saved, treeOf } from './catalogue.ts';

const Preview = z.object({ title: z.string(), description: z.string(), thumbnail: z.string(), existing: z.array(Bookmark) });

const text = z.string().optional();
/** A phone's share sheet sends the address as `url`, or within `text`; the look-up of a page sends every field of the form. */
const NewQuery = z.object({ url: text, title: text, text, description: text, tags: text, folder: text, favorite: fieldCheck });

type Entry = {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly tags: string;
  readonly folder: string;
  readonly favorite: boolean;
};

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
    const { tags = '', folder = '', description = '', favorite } = query;
    const described = description || textBeside(shared, query);
    const isOfPage = given === '' && described === '';
    const hint = page && (title === '' ? bookmarks.notLookedUp : isOfPage ? bookmarks.lookedUp : undefined);
    const entry = { url: shared, title, description: described || (page?.description ?? ''), tags, folder, favorite };
    return {
      title: bookmarks.add,
      body: [
        head(visit, bookmarks.add),
        warning(visit, page?.existing ?? []),
        entryForm(visit, { action: path, entry, hint, tree: await treeFor(visit), further: lookUp(visit) }),
        shared === '' ? bookmarklet(visit) : null,
      ],
    };
  },
});

/** The words that a share sheet sends beside the address and the title, such as those of a post. */
function textBeside(url: string, { text: shared = '', title = '' }: z.output<typeof NewQuery>): string {
  const beside = shared.replace(url, '').trim();
  return beside === title.trim() ? '' : beside;
}

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

/** The script puts the address of the console in place of `#`, as this browser knows it: a proxy in front may tell the console another one. */
const opening = `javascript:void(open('#${path}/new?url='+encodeURIComponent(location.href)+'&title='+encodeURIComponent(document.title)))`;

/**
 * A bookmark of the browser that opens this form for the page that it is used on. It is for dragging: the policy of pages runs no script of a link here.
 */
function bookmarklet({ locale }: Pick<Visit, 'locale'>): VNode {
  const { bookmarklet: words } = locale.t.bookmarks;
  return h(
    'div',
    { hidden: true, 'data-bookmarklet': opening },
    section(
      words.title,
      h('p', { class: 'quiet' }, words.hint),
      h('p', null, h('a', { class: 'button' }, icon('bookmarks'), words.name)),
      copyable(locale, opening, { label: words.copy, isFolded: true }),
    ),
  );
}

/** Asks for the form once more, with the title of the page at the address; the Enter key saves. */
const lookUp = ({ locale }: Pick<Visit, 'locale'>): VNode =>
  h('button', { formaction: `${path}/new`, formmethod: 'get', formnovalidate: true }, locale.t.bookmarks.lookUp);

const treeFor = async (visit: Pick<Visit, 'ask' | 'locale'>): Promise<readonly Branch[]> => treeOf(await foldersOf(visit), visit.locale.format.compare);

type EntryForm = {
  readonly action: string;
  readonly entry: Entry;
  readonly tree: readonly Branch[];
  /** The state that the form was filled from: a change in between is not overwritten. */
  readonly etag?: string | undefined;
  readonly hint?: string | undefined;
  readonly faults?: Faults;
  readonly further?: VNode;
};

function entryForm({ locale }: Pick<Visit, 'locale'>, { action: to, entry, tree, etag, hint, faults, further }: EntryForm): VNode {
  const { bookmarks } = locale.t;
  const options = folderOptions(tree, bookmarks.noFolder);
  return form(
    locale,
    { path: to, submit: bookmarks.save, cancel: path, faults, further },
    etag === undefined ? null : hiddenFields({ etag }),
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
  tags: namesIn(fieldText(fields, 'tags')).join(', '),
  folder: fieldText(fields, 'folder'),
  favorite: fieldText(fields, 'favorite') === 'true',
});

const create = action({
  path,
  area: 'bookmarks',
  form: Entered,
  async run({ form: entered, ask, locale }) {
    const { id, title } = await ask('bookmarks').send({ method: 'POST', path: '/api/bookmarks', body: bodyOf(entered) }, Bookmark);
    return { message: locale.t.bookmarks.saved(title), target: id, name: title, to: path, undo: { path: `${path}/${id}/delete`, fields: {} } };
  },
  async again(visit) {
    const { bookmarks } = visit.locale.t;
    const { fields, faults } = visit;
    return {
      title: bookmarks.add,
      body: [head(visit, bookmarks.add), entryForm(visit, { action: path, entry: enteredIn(fields), tree: await treeFor(visit), faults })],
    };
  },
});

/** A bookmark as the form has it, with the tag of its state. */
async function stored({ ask }: Pick<Visit, 'ask'>, id: string) {
  const { answer, header } = await ask('bookmarks').sendFor({ path: pathOf`/api/bookmarks/${id}` }, Bookmark);
  const { url, title, description, tags, folderId, favorite } = answer;
  return { entry: { url, title, description, tags: tags.join(', '), folder: folderId ?? '', favorite }, etag: header('etag') };
}

const edit = page({
  path: '/bookmarks/{id}',
  area: 'bookmarks',
  role: 'editor',
  params: ById,
  async show(visit) {
    const { params } = visit;
    const [{ entry, etag }, tree] = await Promise.all([stored(visit, params.id), treeFor(visit)]);
    const { url, title } = entry;
    return {
      title,
      body: [head(visit, title), h('p', null, externalLink(url)), entryForm(visit, { action: `${path}/${params.id}`, entry, tree, etag })],
    };
  },
});

/** Goes into a header; any other text is taken for none of the states, so that nothing is overwritten. */
const EntityTag = z
  .string()
  .transform((text) => (/^"[\x21\x23-\x7e]+"$/.test(text) ? text : '"unknown"'))
  .optional();

/** The fault of a form whose bookmark was changed meanwhile. */
const meanwhile = 'meanwhile';

const change = action({
  path: '/bookmarks/{id}',
  area: 'bookmarks',
  params: ById,
  form: Entered.extend({ etag: EntityTag }),
  async run({ params, form: { etag, ...entered }, ask, locale }) {
    const { bookmarks } = locale.t;
    const headers = etag === undefined ? {} : { 'If-Match': etag };
    try {
      const { title } = await ask('bookmarks').send({ method: 'PATCH', path: pathOf`/api/bookmarks/${params.id}`, body: bodyOf(entered), headers }, Bookmark);
      return { message: bookmarks.saved(title), target: params.id, name: title, to: path };
    } catch (error) {
      const isLate = error instanceof Problem && error.kind.type === Problems.changedMeanwhile.type;
      throw isLate ? Common.invalid({ errors: { [meanwhile]: [bookmarks.changedMeanwhile] } }) : error;
    }
  },
  async again(visit) {
    const { fields, faults, params, locale } = visit;
    const { bookmarks } = locale.t;
    const to = `${path}/${params.id}`;
    const entry = enteredIn(fields);
    const tree = await treeFor(visit);
    const top = head(visit, bookmarks.edit);
    if (faults[meanwhile] === undefined) {
      const etag = fieldText(fields, 'etag') || undefined;
      return { title: bookmarks.edit, body: [top, entryForm(visit, { action: to, entry, tree, etag, faults })] };
    }
    const now = await stored(visit, params.id);
    const changed = differences(visit, { entry, stored: now.entry, tree });
    return { title: bookmarks.edit, status: 409, body: [top, changed, entryForm(visit, { action: to, entry, tree, etag: now.etag })] };
  },
});

/** A form ends lines by two characters. */
const isSame = (one: string | boolean, other: string | boolean) => String(one).replaceAll('\r\n', '\n') === String(other).replaceAll('\r\n', '\n');

type Compared = { readonly entry: Entry; readonly stored: Entry; readonly tree: readonly Branch[] };

/** Members that are stored otherwise than they were entered; the form has the entries. */
function differences({ locale }: Pick<Visit, 'locale'>, { entry, stored: now, tree }: Compared): VNode {
  const { bookmarks } = locale.t;
  const folderName = tree.find(({ folder }) => folder.id === now.folder)?.folder.name ?? bookmarks.noFolder;
  const shown: readonly (readonly [keyof Entry, string, string])[] = [
    ['url', bookmarks.address, now.url],
    ['title', bookmarks.title, now.title],
    ['description', bookmarks.description, now.description],
    ['tags', bookmarks.tags, now.tags],
    ['folder', bookmarks.folder, folderName],
    ['favorite', bookmarks.favorite, now.favorite ? bookmarks.yes : bookmarks.no],
  ];
  const pairs = shown.flatMap(([member, label, text]) => (isSame(entry[member], now[member]) ? [] : [[label, text] as const]));
  return h(
    'div',
    { class: 'faults', role: 'alert' },
    h('p', { class: 'strong' }, bookmarks.changedMeanwhile),
    h('p', null, bookmarks.storedNow),
    detailList(pairs),
  );
}

export const entryPages = [add, create];
/** The last ones of the area: the parameter in their path takes any word. */
export const bookmarkPages = [edit, change];
