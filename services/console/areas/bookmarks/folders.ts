// Folders: added, renamed, moved, deleted.
import { h, type VNode } from 'preact';
import { z } from 'zod';
import { Folder } from '../../../bookmarks/contract.ts';
import { Common } from '../../../platform/problem.ts';
import { action, ById, page, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { confirmByName, field, form } from '../../view/forms.ts';
import { pageHead, section } from '../../view/shell.ts';
import { type Branch, folderOptions, foldersOf, path, treeOf } from './catalogue.ts';

const foldersPath = '/bookmarks/folders';

const treeFor = async (visit: Pick<Visit, 'ask' | 'locale'>) => treeOf(await foldersOf(visit), visit.locale.format.compare);

const list = page({
  path: foldersPath,
  area: 'bookmarks',
  role: 'editor',
  async show(visit) {
    const { bookmarks, view } = visit.locale.t;
    const tree = await treeFor(visit);
    const items = tree.map(({ folder, depth }) =>
      h('li', { class: `depth-${Math.min(depth, 6)}` }, h('a', { href: `${foldersPath}/${folder.id}` }, folder.name)),
    );
    return {
      title: bookmarks.folders,
      body: [
        pageHead({ title: bookmarks.folders, trail: [{ label: view.areas.bookmarks, href: path }] }),
        items.length > 0 ? h('ul', { class: 'card sides' }, items) : null,
        section(bookmarks.newFolder, folderForm(visit, foldersPath, { tree, name: '', parentId: null })),
      ],
    };
  },
});

type FolderForm = { readonly tree: readonly Branch[]; readonly name: string; readonly parentId: string | null };

const folderForm = ({ locale }: Pick<Visit, 'locale'>, to: string, { tree, name, parentId }: FolderForm): VNode =>
  form(
    locale,
    { path: to, submit: locale.t.bookmarks.save },
    field(locale, { kind: 'text', name: 'name', label: locale.t.bookmarks.name, value: name, isRequired: true, maxLength: 200 }),
    field(locale, {
      kind: 'choice',
      name: 'parent',
      label: locale.t.bookmarks.within,
      value: parentId ?? '',
      options: folderOptions(tree, locale.t.bookmarks.top),
    }),
  );

const one = page({
  path: '/bookmarks/folders/{id}',
  area: 'bookmarks',
  role: 'editor',
  params: ById,
  async show(visit) {
    const { locale, params, ask } = visit;
    const { bookmarks } = locale.t;
    const [folder, tree] = await Promise.all([ask('bookmarks').get(pathOf`/api/folders/${params.id}`, Folder), treeFor(visit)]);
    const others = tree.filter(({ folder: { id } }) => id !== folder.id);
    const at = `${foldersPath}/${folder.id}`;
    return {
      title: folder.name,
      body: [
        pageHead({ title: folder.name, trail: [{ label: bookmarks.folders, href: foldersPath }] }),
        folderForm(visit, at, { tree: others, name: folder.name, parentId: folder.parentId }),
        confirmByName(locale, { path: `${at}/delete`, name: folder.name, label: bookmarks.deleteFolder, explanation: bookmarks.deleteFolderHint }),
      ],
    };
  },
});

const Entered = z.object({ name: z.string(), parent: z.string() });

const create = action({
  path: foldersPath,
  area: 'bookmarks',
  form: Entered,
  async run({ form: { name, parent }, locale, ask }) {
    const folder = await ask('bookmarks').send({ method: 'POST', path: '/api/folders', body: { name, parentId: parent || null } }, Folder);
    return { message: locale.t.bookmarks.folderSaved(folder.name), target: folder.id, to: `${path}?folder=${folder.id}` };
  },
});

const change = action({
  path: '/bookmarks/folders/{id}',
  area: 'bookmarks',
  params: ById,
  form: Entered,
  async run({ params, form: { name, parent }, locale, ask }) {
    const folder = await ask('bookmarks').send({ method: 'PATCH', path: pathOf`/api/folders/${params.id}`, body: { name, parentId: parent || null } }, Folder);
    return { message: locale.t.bookmarks.folderSaved(folder.name), target: params.id, to: foldersPath };
  },
});

const remove = action({
  path: '/bookmarks/folders/{id}/delete',
  area: 'bookmarks',
  params: ById,
  form: z.object({ confirm: z.string() }),
  async run({ params, form: { confirm }, locale, ask }) {
    const { bookmarks } = locale.t;
    const folder = await ask('bookmarks').get(pathOf`/api/folders/${params.id}`, Folder);
    if (confirm !== folder.name) throw Common.invalid({ errors: { confirm: [bookmarks.wrongName] } });
    await ask('bookmarks').send({ method: 'DELETE', path: pathOf`/api/folders/${params.id}`, query: { cascade: true } }, z.undefined());
    return { message: bookmarks.folderDeleted(folder.name), target: params.id, to: foldersPath };
  },
});

export const folderPages = [list, one, create, change, remove];
