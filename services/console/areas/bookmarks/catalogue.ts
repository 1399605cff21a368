// The catalogue of bookmarks as this area asks it: its folders as a tree, and the query of the list.
import { z } from 'zod';
import { Bookmark, Counts, Folder } from '../../../bookmarks/contract.ts';
import { undoHeader } from '../../../bookmarks/undo/contract.ts';
import type { Schema } from '../../../platform/http/route.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { queryRepeated } from '../../../platform/schema.ts';
import type { Undo } from '../../view/frame.ts';
import type { Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import type { Option } from '../../view/filters.ts';

export const path = '/bookmarks';

export type Saved = AnswerOf<typeof Bookmark>;
export type FolderOf = AnswerOf<typeof Folder>;

const flag = z.literal('true').optional();
export const ListQuery = z.object({
  q: z.string().optional(),
  tag: queryRepeated(z.string(), { max: 20 }),
  folder: z.string().optional(),
  subfolders: flag,
  favorite: flag,
  untagged: flag,
  dead: flag,
  sort: z.enum(['newest', 'oldest', 'title']).optional(),
  after: z.string().optional(),
});
export type ListQuery = z.output<typeof ListQuery>;

type Asking = Pick<Visit, 'ask'>;

/** @param revision the entity tag of a list of this request: all lists of one state of the catalogue have the same one */
export const foldersOf = ({ ask }: Asking, revision?: string) => ask('bookmarks').getKept('/api/folders', z.array(Folder), revision);
/** @see foldersOf */
export const countsOf = ({ ask }: Asking, revision?: string) => ask('bookmarks').getKept('/api/bookmarks/counts', Counts, revision);
export const bookmarkOf = ({ ask }: Asking, id: string) => ask('bookmarks').get(pathOf`/api/bookmarks/${id}`, Bookmark);

type Sending = Parameters<ReturnType<Visit['ask']>['send']>[0];

/** A change that the catalogue remembers. @returns its answer, and what takes it back: nothing where something in between took the id away */
export async function change<S extends Schema>({ ask }: Asking, call: Sending, contract: S): Promise<{ readonly answer: AnswerOf<S>; readonly undo?: Undo }> {
  const { answer, header } = await ask('bookmarks').sendFor({ ...call, query: { ...call.query, undo: true } }, contract);
  const id = header(undoHeader.toLowerCase());
  return { answer, ...(id !== undefined && { undo: { path: pathOf`/bookmarks/undo/${id}`, fields: {} } }) };
}

export type Branch = { readonly folder: FolderOf; readonly depth: number };

/** Folders in the order of a tree that is read from top to bottom, by name on each level. */
export function treeOf(folders: readonly FolderOf[], compare: (one: string, other: string) => number): Branch[] {
  const below = Map.groupBy(folders, ({ parentId }) => parentId);
  const walk = (parentId: string | null, depth: number): Branch[] =>
    (below.get(parentId) ?? [])
      .toSorted((one, other) => compare(one.name, other.name))
      .flatMap((folder) => [{ folder, depth }, ...(depth < 100 ? walk(folder.id, depth + 1) : [])]);
  return walk(null, 0);
}

/** Folders to choose from; those below another are indented. */
export const folderOptions = (tree: readonly Branch[], none: string): Option[] => [
  { value: '', label: none },
  ...tree.map(({ folder, depth }) => ({ value: folder.id, label: `${'\u2003'.repeat(depth)}${folder.name}` })),
];

/** Names between commas. */
export const namesIn = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  ),
];
