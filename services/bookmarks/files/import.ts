// Imports Netscape bookmark HTML in batches, each in a transaction of its own: an interrupted import keeps the batches before.
import { hash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { Common } from '../../platform/problem.ts';
import { BookmarkInput, type ImportResult } from '../contract.ts';
import type { CatalogueStore, CatalogueWriter, PlainBookmark } from '../store.ts';
import { type FileBookmark, type FileFolder, type FileItem, readNetscape } from './netscape-reader.ts';

const itemsAtOnce = 500;
/** With more failures the import stops; the batches before are stored. */
const maxFailed = 10_000;

type Options = { readonly isDryRun: boolean; readonly withPrivate: boolean };

export type Importer = ReturnType<typeof createImporter>;

export function createImporter(store: CatalogueStore, clock: () => Date) {
  const add = (items: readonly Prepared[]) => store.write((writer) => addAll(writer, items, clock()));

  /** Skips bookmarks that are stored already. @throws Problem for a text that is no bookmark file, or the error of `texts` */
  return async (texts: AsyncIterable<string>, { isDryRun, withPrivate }: Options): Promise<ImportResult> => {
    const result: ImportResult = { created: 0, skipped: 0, failed: [], leftOut: [] };
    const prepare = createPreparation(result, { clock, withPrivate });
    for await (const items of readNetscape(texts, itemsAtOnce)) {
      const prepared = items.flatMap((item) => prepare(item) ?? []);
      if (result.failed.length > maxFailed) throw Common.invalid({ detail: `More than ${maxFailed} bookmarks of the file cannot be imported.` });
      if (prepared.length === 0) continue;
      const created = await (isDryRun ? countNew(store, prepared) : add(prepared));
      result.created += created;
      result.skipped += prepared.filter(({ bookmark }) => bookmark).length - created;
    }
    return result;
  };
}

/** A folder, created if it is missing, and a bookmark to put into it. */
type Prepared = { readonly folder: FileFolder | undefined; readonly bookmark?: Omit<PlainBookmark, 'folderId'> };

/** @returns a function that checks an item, and adds a bookmark that is not stored to `result`; it returns undefined when nothing is to be stored */
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
    const parsed = BookmarkInput.safeParse({ ...bookmark, title: bookmark.title || bookmark.url });
    const reason = fault ?? bookmark.fault ?? parsed.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
    if (reason !== undefined || !parsed.data) {
      result.failed.push({ index, title: bookmark.title.slice(0, 500), reason: reason ?? '' });
      return undefined;
    }
    const key = hash('sha256', `${folder?.key ?? ''}\0${parsed.data.url}`, 'base64');
    if (seen.has(key)) {
      result.skipped += 1;
      return undefined;
    }
    seen.add(key);
    return { folder, bookmark: { ...parsed.data, id: newId(), dateAdded: bookmark.dateAdded ?? clock() } };
  };
}

/** Schemes of addresses that only a browser understands. */
const browserScheme =
  /^(?:place|javascript|data|blob|about|chrome|edge|brave|opera|vivaldi|resource|view-source|(?:chrome|moz|safari-web|ms-browser)-extension):/i;

/** Vivaldi exports its separators as bookmarks of this address. */
const separator = 'http://bookmark.placeholder.url/';

/** Private bookmarks are left out unless the caller asks for them: the catalogue is public. */
function reasonToLeaveOut({ url, isPrivate }: FileBookmark, withPrivate: boolean): string | undefined {
  const scheme = browserScheme.exec(url)?.[0];
  if (scheme !== undefined) return `${scheme.toLowerCase()} is an address of the browser`;
  if (url === separator) return 'it is a separator';
  return isPrivate && !withPrivate ? 'it is private, and private ones were not asked for' : undefined;
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

/** The dry run of `addAll`. @returns how many bookmarks would be new */
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

/**
 * @returns a function that finds the id of a folder by its path: null for the top, undefined for a missing folder. It remembers ids, so each batch
 * has its own: folders may be deleted between batches.
 */
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
