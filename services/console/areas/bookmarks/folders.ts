// Folders: added, renamed, moved, deleted.
import { z } from 'zod';
import { h, type VNode } from '../../view/elements.ts';
import { Folder } from '../../../bookmarks/contract.ts';
import { action, ById, fieldText, noFields, page, type Refilled, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { type Faults, field, form } from '../../view/forms.ts';
import { actionButton, actionsFormElement } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pageHead, section } from '../../view/shell.ts';
import { type Branch, change as changeCatalogue, folderOptions, foldersOf, path, treeOf } from './catalogue.ts';

const foldersPath = '/bookmarks/folders';

const treeFor = async (visit: Pick<Visit, 'ask' | 'locale'>) => treeOf(await foldersOf(visit), visit.locale.format.compare);

/** An entry, and the faults where it came back. */
type Entry = { readonly name: string; readonly parent: string; readonly faults?: Faults };

const refilled = ({ fields, faults: { parentId = [], ...faults } }: Refilled): Entry => ({
  name: fieldText(fields, 'name'),
  parent: fieldText(fields, 'parent'),
  faults: { ...faults, ...(parentId.length > 0 && { parent: parentId }) },
});

async function showList(visit: Pick<Visit, 'ask' | 'locale'>, entry: Entry) {
  const { bookmarks, view } = visit.locale.t;
  const tree = await treeFor(visit);
  const items = tree.map(({ folder, depth }) =>
    h('li', { class: `depth-${Math.min(depth, 6)}` }, h('a', { href: `${foldersPath}/${folder.id}` }, folder.name)),
  );
  return {
    title: bookmarks.folders,
    body: [
      pageHead({
        title: bookmarks.folders,
        trail: [{ label: view.areas.bookmarks, href: path }],
        lead: items.length > 0 ? bookmarks.foldersLead : null,
      }),
      items.length > 0 ? h('ul', { class: 'card sides' }, items) : null,
      section(bookmarks.newFolder, folderForm(visit.locale, foldersPath, { tree, ...entry })),
    ],
  };
}

const list = page({ path: foldersPath, area: 'bookmarks', role: 'editor', show: (visit) => showList(visit, { name: '', parent: '' }) });

const folderForm = (locale: Locale, to: string, { tree, name, parent, faults }: Entry & { readonly tree: readonly Branch[] }): VNode =>
  form(
    locale,
    { path: to, submit: locale.t.bookmarks.save, faults },
    field(locale, { kind: 'text', name: 'name', label: locale.t.bookmarks.name, value: name, isRequired: true, maxLength: 200, faults }),
    field(locale, {
      kind: 'choice',
      name: 'parent',
      label: locale.t.bookmarks.within,
      value: parent,
      options: folderOptions(tree, locale.t.bookmarks.top),
      faults,
    }),
  );

async function showOne(visit: Pick<Visit, 'ask' | 'locale'>, id: string, entry?: Entry) {
  const { locale, ask } = visit;
  const { bookmarks } = locale.t;
  const [folder, tree] = await Promise.all([ask('bookmarks').get(pathOf`/api/folders/${id}`, Folder), treeFor(visit)]);
  const others = tree.filter((branch) => branch.folder.id !== folder.id);
  const at = `${foldersPath}/${folder.id}`;
  const { name, parentId } = folder;
  return {
    title: name,
    body: [
      pageHead({ title: name, trail: [{ label: bookmarks.folders, href: foldersPath }] }),
      folderForm(locale, at, { tree: others, ...(entry ?? { name, parent: parentId ?? '' }) }),
      section(
        bookmarks.deleteFolder,
        h('p', null, bookmarks.deleteFolderHint),
        actionButton({ path: `${at}/delete`, label: bookmarks.deleteFolder, icon: 'delete', tone: 'danger' }),
      ),
      actionsFormElement(),
    ],
  };
}

const one = page({ path: '/bookmarks/folders/{id}', area: 'bookmarks', role: 'editor', params: ById, show: (visit) => showOne(visit, visit.params.id) });

const Entered = z.object({ name: z.string(), parent: z.string() });

const create = action({
  path: foldersPath,
  area: 'bookmarks',
  form: Entered,
  async run({ form: { name, parent }, locale, ask }) {
    const folder = await ask('bookmarks').send({ method: 'POST', path: '/api/folders', body: { name, parentId: parent || null } }, Folder);
    return { message: locale.t.bookmarks.folderSaved(folder.name), target: folder.id, name: folder.name, to: `${path}?folder=${folder.id}` };
  },
  again: (visit) => showList(visit, refilled(visit)),
});

const change = action({
  path: '/bookmarks/folders/{id}',
  area: 'bookmarks',
  params: ById,
  form: Entered,
  async run({ params, form: { name, parent }, locale, ask }) {
    const at = pathOf`/api/folders/${params.id}`;
    const before = await ask('bookmarks').get(at, Folder);
    const folder = await ask('bookmarks').send({ method: 'PATCH', path: at, body: { name, parentId: parent || null } }, Folder);
    const undo = { path: `${foldersPath}/${params.id}`, fields: { name: before.name, parent: before.parentId ?? '' } };
    return { message: locale.t.bookmarks.folderSaved(folder.name), target: params.id, name: folder.name, to: foldersPath, undo };
  },
  again: (visit) => showOne(visit, visit.params.id, refilled(visit)),
});

const remove = action({
  path: '/bookmarks/folders/{id}/delete',
  area: 'bookmarks',
  params: ById,
  form: noFields,
  async run(visit) {
    const { params, locale, ask } = visit;
    const { name } = await ask('bookmarks').get(pathOf`/api/folders/${params.id}`, Folder);
    const { answer: _, ...taken } = await changeCatalogue(
      visit,
      { method: 'DELETE', path: pathOf`/api/folders/${params.id}`, query: { cascade: true } },
      z.undefined(),
    );
    return { message: locale.t.bookmarks.folderDeleted(name), target: params.id, name, to: foldersPath, ...taken };
  },
});

export const folderPages = [list, one, create, change, remove];
