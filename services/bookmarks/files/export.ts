// Exports one snapshot as Netscape bookmark HTML: each folder with its subfolders, then its bookmarks.
import type { Folder } from '../contract.ts';
import type { Snapshot } from '../lists/store.ts';
import { bookmarkLines, fileHead, folderHead, listEnd } from './netscape-writer.ts';

export async function* exportAll(snapshot: Snapshot): AsyncGenerator<string> {
  const folders = Map.groupBy(await snapshot.folders(), ({ parentId }) => parentId);
  async function* bookmarksOf(id: string | null): AsyncGenerator<string> {
    for await (const rows of snapshot.bookmarks({ folderId: id }, { order: 'oldest', after: undefined }))
      if (rows.length > 0) yield rows.map(bookmarkLines).join('');
  }
  yield fileHead;
  // A stack of its own instead of recursion: folders may be nested deeper than calls can be. `remaining` is in reverse, for `pop`.
  const subfoldersOf = (id: string | null) => (folders.get(id) ?? []).toReversed();
  const open: { readonly id: string | null; readonly remaining: Folder[] }[] = [{ id: null, remaining: subfoldersOf(null) }];
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const folder = current.remaining.pop();
    if (folder) {
      yield folderHead(folder);
      open.push({ id: folder.id, remaining: subfoldersOf(folder.id) });
    } else {
      yield* bookmarksOf(current.id);
      yield listEnd;
      open.pop();
    }
  }
}
