// The import of Netscape bookmark HTML, in transactions of a few hundred items, so that an interrupted import keeps what it has stored.
import { hash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { Common } from '../../platform/problem.ts';
import { BookmarkInput, type ImportResult } from '../contract.ts';
import type { CatalogueStore, CatalogueWriter, PlainBookmark } from '../store.ts';
import { type FileBookmark, type FileFolder, type FileItem, readNetscape } from './netscape-reader.ts';

const itemsAtOnce = 500;
/** A file with more failures is refused as a whole. */
const maxFailed = 10_000;

type Options = { readonly isDryRun: boolean; readonly withPrivate: boolean };

export type Importer = ReturnType<typeof createImporter>;

export function createImporter(store: CatalogueStore, clock: () => Date) {
  const importing = (items: readonly Prepared[]) => store.write((writer) => addAll(writer, items, clock()));
  const trying = (items: readonly Prepared[]) => countNew(store, items);

  /** A repeat skips what is stored already. @throws Problem for a text that is no bookmark file, or the error of `texts` */
  return async (texts: AsyncIterable<string>, { isDryRun, withPrivate }: Options): Promise<ImportResult> => {
    const result: ImportResult = { created: 0, skipped: 0, failed: [], leftOut: [] };
    const prepare = createPreparation(result, { clock, withPrivate });
    for await (const items of readNetscape(texts, itemsAtOnce)) {
      const prepared = items.flatMap((item) => prepare(item) ?? []);
      if (result.failed.length > maxFailed) throw Common.invalid({ detail: `More than ${maxFailed} bookmarks of the file cannot be imported.` });
      const created = prepared.length > 0 ? await (isDryRun ? trying : importing)(prepared) : 0;
      result.created += created;
      result.skipped += prepared.filter(({ bookmark }) => bookmark).length - created;
    }
    return result;
  };
}

/** A folder to create where it is missing, and a bookmark to put into it. */
type Prepared = { readonly folder: FileFolder | undefined; readonly bookmark?: Omit<PlainBookmark, 'folderId'> };

/** Counts failures and repeats within the file. @returns undefined where nothing is left to store */
function createPreparation(result: ImportResult, { clock, withPrivate }: { readonly clock: () => Date; readonly withPrivate: boolean }) {
  const seen = new Set<string>();
  let index = -1;
  return ({ folder, bookmark }: FileItem): Prepared | undefined => {
    const fault = folder?.fault;
    if (!bookmark) return fault === undefined ? { folder } : undefined;
    index += 1;
    const leftOut = reasonToLeaveOut(bookmark, withPrivate);
    if (leftOut !== undefined) {
      result.skipped += 1;
      if (result.leftOut.length < maxFailed) result.leftOut.push({ index, title: bookmark.title.slice(0, 500), reason: leftOut });
      return undefined;
    }
    const read = BookmarkInput.safeParse({ ...bookmark, title: bookmark.title || bookmark.url });
    const reason = fault ?? bookmark.fault ?? read.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
    if (reason !== undefined || !read.data) {
      result.failed.push({ index, title: bookmark.title.slice(0, 500), reason: reason ?? '' });
      return undefined;
    }
    const key = hash('sha256', `${folder?.key ?? ''}\0${read.data.url}`, 'base64');
    if (seen.has(key)) {
      result.skipped += 1;
      return undefined;
    }
    seen.add(key);
    return { folder, bookmark: { ...read.data, id: newId(), dateAdded: bookmark.dateAdded ?? clock() } };
  };
}

/** Addresses that only the browser itself understands. */
const ofBrowsers =
  /^(?:place|javascript|data|blob|about|chrome|edge|brave|opera|vivaldi|resource|view-source|(?:chrome|moz|safari-web|ms-browser)-extension):/i;

/** The catalogue is public. */
function reasonToLeaveOut({ url, isPrivate }: FileBookmark, withPrivate: boolean): string | undefined {
  const scheme = ofBrowsers.exec(url)?.[0];
  if (scheme !== undefined) return `${scheme.toLowerCase()} is an address of the browser`;
  return isPrivate && !withPrivate ? 'it is private; private=include imports it' : undefined;
}

/** @returns how many bookmarks were new */
async function addAll(writer: CatalogueWriter, items: readonly Prepared[], now: Date): Promise<number> {
  const idOf = createLookup(writer.findSubfolder, async (name, parentId) => {
    const folder = { id: newId(), name, parentId, icon: null };
    await writer.insertFolder(folder, now);
    return folder.id;
  });
  const bookmarks: PlainBookmark[] = [];
  for (const { folder, bookmark } of items) {
    const folderId = (await idOf(folder)) ?? null;
    if (bookmark) bookmarks.push({ ...bookmark, folderId });
  }
  return writer.insertMissing(bookmarks);
}

/** As `addAll`, without writing. */
async function countNew(store: CatalogueStore, items: readonly Prepared[]): Promise<number> {
  const idOf = createLookup(store.findSubfolder, () => Promise.resolve(undefined));
  const bookmarks: PlainBookmark[] = [];
  let inNewFolders = 0;
  for (const { folder, bookmark } of items) {
    if (!bookmark) continue;
    const folderId = await idOf(folder);
    if (folderId === undefined) inNewFolders += 1;
    else bookmarks.push({ ...bookmark, folderId });
  }
  return inNewFolders + (await store.countMissing(bookmarks));
}

type Found = string | null | undefined;

/** Finds a folder's id by its path: null is the top, undefined a missing folder. Made for each batch, since folders may be deleted between two. */
function createLookup(find: CatalogueWriter['findSubfolder'], make: (name: string, parentId: string | null) => Promise<Found>) {
  const known = new Map<string, Found>();
  return async function idOf(folder: FileFolder | undefined): Promise<Found> {
    if (!folder) return null;
    if (known.has(folder.key)) return known.get(folder.key);
    const parentId = await idOf(folder.parent);
    const id = parentId === undefined ? undefined : ((await find(folder.name, parentId)) ?? (await make(folder.name, parentId)));
    known.set(folder.key, id);
    return id;
  };
}
