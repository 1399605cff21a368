// The export as Netscape bookmark HTML, from one snapshot: every folder with its content.
import type { Folder } from '../contract.ts';
import type { Snapshot } from '../lists/store.ts';
import { bookmarkLines, fileHead, folderHead, listEnd } from './netscape-writer.ts';

export async function* exportAll(snapshot: Snapshot): AsyncGenerator<string> {
  const folders = Map.groupBy(await snapshot.folders(), ({ parentId }) => parentId);
  async function* contentOf(id: string | null): AsyncGenerator<string> {
    for await (const rows of snapshot.bookmarks({ folderId: id }, { order: 'oldest', after: undefined }))
      if (rows.length > 0) yield rows.map(bookmarkLines).join('');
  }
  yield fileHead;
  // An explicit stack: folders may be nested deeper than calls can be.
  const open: { readonly id: string | null; readonly below: Folder[] }[] = [{ id: null, below: (folders.get(null) ?? []).toReversed() }];
  for (let current = open.at(-1); current; current = open.at(-1)) {
    const folder = current.below.pop();
    if (folder) {
      yield folderHead(folder);
      open.push({ id: folder.id, below: (folders.get(folder.id) ?? []).toReversed() });
    } else {
      yield* contentOf(current.id);
      yield listEnd;
      open.pop();
    }
  }
}
