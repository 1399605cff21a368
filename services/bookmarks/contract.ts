// The bookmark catalogue's schemas and problems.
import { z } from 'zod';
import { storable } from '../platform/json.ts';
import { problems } from '../platform/problem.ts';
import {
  Count,
  exactlyOptional,
  Id,
  isGuid,
  isPicture,
  isWebAddress,
  queryBoolean,
  queryChoice,
  queryInteger,
  queryList,
  queryRepeated,
  storableText,
  text,
  Timestamp,
  trimmedText,
  webAddress,
} from '../platform/schema.ts';

/** Null becomes the empty text. */
const nullableText = (max: number) =>
  storableText({ max })
    .nullable()
    .transform((value) => value ?? '');

/** No bookmark or folder has this id. */
const idOfNothing = '00000000-0000-0000-0000-000000000000';
/** Ids are accepted in any letter case, and a text that is no id is answered like an unknown one. */
export const asId = (value: string) => (isGuid(value) ? value.toLowerCase() : idOfNothing);
export const Reference = z.string({ error: 'must be a string' }).transform(asId).nullable();
export const ById = z.object({ id: z.string().transform(asId).meta({ description: 'The id of the bookmark or folder' }) });

/** Compares code points; JavaScript's own order compares UTF-16 units. */
const byCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
export const maxTags = 100;
const Tag = trimmedText({ max: 100 });
export const Tags = z
  .array(Tag, { error: 'must be an array' })
  .nullable()
  .transform((tags) => [...new Set(tags)].filter((tag) => tag !== '').sort(byCodePoints))
  .refine((tags) => tags.length <= maxTags, { error: `must hold at most ${maxTags} tags` });

export const Bookmark = z
  .object({
    id: Id('The id of the bookmark'),
    title: z.string().meta({ description: 'The title, never empty' }),
    url: z.string().meta({ description: 'The address as it was given, without white space around it' }),
    description: z.string().meta({ description: 'A text about the page, or the empty text' }),
    thumbnail: z.string().meta({ description: 'The address of a picture, or the empty text' }),
    tags: z.array(z.string()).meta({ description: 'The tags in order of code points, each once' }),
    folderId: Id('').nullable().meta({ description: 'The folder that holds the bookmark, or null' }),
    favorite: z.boolean().meta({ description: 'Whether the bookmark is a favorite' }),
    dateAdded: Timestamp.meta({ description: 'When the bookmark was added' }),
    checked: z.exactOptional(Timestamp.nullable()).meta({ description: 'With `include=check`: when the page was last asked for; null before the first check' }),
    status: z.exactOptional(z.int().nullable()).meta({ description: 'With `include=check`: the HTTP status of that check; null where there was no answer' }),
    dead: z.exactOptional(z.boolean()).meta({ description: 'With `include=check`: whether the page is gone' }),
  })
  .meta({
    id: 'Bookmark',
    description: 'A bookmark of the catalogue',
    examples: [
      {
        id: '019b76da-a800-7000-8000-5f3c1e2d4a6b',
        title: 'Flood maps of the Shannon',
        url: 'https://maps.example/shannon',
        description: 'By year',
        thumbnail: '',
        tags: ['maps', 'rivers'],
        folderId: null,
        favorite: true,
        dateAdded: '2026-03-15T12:00:00.000Z',
      },
    ],
  });
export type Bookmark = z.output<typeof Bookmark>;

export const bookmarkMembers = {
  title: trimmedText({ min: 1, max: 500 }).meta({ description: 'The title; white space around it is dropped' }),
  url: webAddress(trimmedText({ min: 1, max: 2048 })).meta({
    override: { format: 'uri', pattern: '^\\s*[hH][tT][tT][pP][sS]?://' },
    description: 'An absolute http or https address without user name and password',
  }),
  description: nullableText(10_000).meta({ description: 'A text about the page; default: the empty text' }),
  thumbnail: nullableText(8192)
    .refine(isPicture, { error: 'must be an http or https URL, or a data URL of a picture' })
    .meta({ description: 'The address of a picture, or the picture as a data URL; default: the empty text' }),
  tags: Tags.meta({ description: `At most ${maxTags} tags; blank ones and repeats are dropped. Default: none` }),
  folderId: Reference.meta({ description: 'The id of an existing folder; default: null, no folder' }),
  favorite: z
    .boolean({ error: 'must be true or false' })
    .nullable()
    .transform((value) => value ?? false)
    .meta({ description: 'Whether the bookmark is a favorite; default: false' }),
};

/** Omitted members have their defaults, on PUT too. */
export const BookmarkInput = z
  .object({
    ...bookmarkMembers,
    description: bookmarkMembers.description.default(''),
    thumbnail: bookmarkMembers.thumbnail.default(''),
    tags: bookmarkMembers.tags.default([]),
    folderId: bookmarkMembers.folderId.default(null),
    favorite: bookmarkMembers.favorite.default(false),
  })
  .meta({
    id: 'BookmarkInput',
    description: 'A bookmark as it is stored; an omitted member has its default, on PUT too',
    examples: [{ title: 'Flood maps of the Shannon', url: 'https://maps.example/shannon', tags: ['maps', 'rivers'] }],
  });
export type BookmarkInput = z.output<typeof BookmarkInput>;

/** A body of a request that has its page fetched: what is omitted comes from the page. */
export const BookmarkToFetch = BookmarkInput.extend({
  title: bookmarkMembers.title.optional().meta({ description: 'The title; required unless `fetch=true`, whose default is that of the page' }),
}).meta({
  id: 'BookmarkToFetch',
  description: 'A bookmark to add; with `fetch=true` an omitted title, description and thumbnail come from the page',
  examples: [{ title: 'Flood maps of the Shannon', url: 'https://maps.example/shannon', tags: ['maps', 'rivers'] }],
});
export const CreationQuery = z.object({
  fetch: queryBoolean
    .default(false)
    .meta({ description: 'Whether the page is asked for a title, a description and a picture that the body does not have; default: false' }),
});

/** Omitted members stay; null sets those that may be null in a `BookmarkInput` to their defaults. */
export const BookmarkPatch = z
  .object(exactlyOptional(bookmarkMembers))
  .meta({ id: 'BookmarkPatch', description: 'Members of a bookmark to change; omitted ones stay', examples: [{ favorite: true, tags: ['maps'] }] });

const Include = z.enum(['check']).meta({ id: 'BookmarkInclude', description: 'A further part of a bookmark' });
const include = queryList(queryChoice(Include)).meta({ description: '`check` adds the last check of the page: `checked`, `status`, `dead`' });
export const BookmarkQuery = z.object({ include });

export const Folder = z
  .object({
    id: Id('The id of the folder'),
    name: z.string().meta({ description: 'The name, never empty; several folders may share one' }),
    parentId: Id('').nullable().meta({ description: 'The folder that holds this one, or null at the top' }),
    icon: z.string().nullable().meta({ description: 'A free text that clients show as an icon, or null' }),
  })
  .meta({
    id: 'Folder',
    description: 'A folder for bookmarks and other folders',
    examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Maps', parentId: null, icon: null }],
  });
export type Folder = z.output<typeof Folder>;

const folderMembers = {
  name: trimmedText({ min: 1, max: 200 }).meta({ description: 'The name; white space around it is dropped' }),
  parentId: Reference.meta({ description: 'The id of an existing folder; default: null, the top' }),
  icon: trimmedText({ max: 200 })
    .nullable()
    .transform((icon) => (icon === '' ? null : icon))
    .meta({ description: 'A free text that clients show as an icon; a blank one is stored as null' }),
};
/** Omitted members have their defaults, on PUT too. */
export const FolderInput = z
  .object({ ...folderMembers, parentId: folderMembers.parentId.default(null), icon: folderMembers.icon.default(null) })
  .meta({ id: 'FolderInput', description: 'A folder as it is stored; an omitted member has its default, on PUT too', examples: [{ name: 'Maps' }] });
export type FolderInput = z.output<typeof FolderInput>;
/** Omitted members stay. */
export const FolderPatch = z
  .object(exactlyOptional(folderMembers))
  .meta({ id: 'FolderPatch', description: 'Members of a folder to change; omitted ones stay', examples: [{ icon: 'map' }] });

const flag = queryBoolean.default(false);
/** The query of each change that can be taken back. */
export const Undoable = z.object({
  undo: flag.meta({ description: 'Whether the change can be taken back within a day; default: false' }),
});
export const FolderDeletion = Undoable.extend({
  cascade: flag.meta({ description: 'Whether a folder with bookmarks or subfolders is deleted as well; default: false' }),
});

/** A blank text counts as absent. Characters that cannot be stored are searched for as they would have been stored. */
const searched = (max: number) =>
  text({ max })
    .transform((value) => storable(value.trim()) || undefined)
    .optional();
export const maxPage = 1000;
export const BookmarkFilterQuery = z.object({
  q: searched(2048).meta({
    description:
      'Words or parts of words that are all in title, URL, description or tags, whatever the case and the accents. `"a phrase"` stands together, `-word` must be missing, `or` separates alternatives. At most 100 terms',
  }),
  tag: queryRepeated(
    text({ max: 100 }).transform((tag) => storable(tag.trim())),
    { max: maxTags },
  ).meta({ description: 'Only bookmarks with this tag; given several times, with all of them' }),
  untagged: queryBoolean.optional().meta({ description: 'Only bookmarks without a tag, or only those with one' }),
  folderId: z.string().transform(asId).optional().meta({ description: 'Only bookmarks in this folder' }),
  subfolders: flag.meta({ description: 'Whether `folderId` means the folders below it, too; default: false' }),
  favorite: queryBoolean.optional().meta({ description: 'Only favorites, or only the others' }),
  dead: queryBoolean.optional().meta({ description: 'Only bookmarks whose page is gone, or only the others' }),
  url: trimmedText({ max: 8192 })
    .refine(isWebAddress, { error: 'must be an absolute http or https URL' })
    .optional()
    .meta({ description: 'Only bookmarks of this page: addresses that differ in spelling, fragment or tracking parameters are one page' }),
});
export type BookmarkFilterQuery = z.output<typeof BookmarkFilterQuery>;
export const sorts = ['oldest', 'newest', 'title'] as const;
export const BookmarkListQuery = BookmarkFilterQuery.extend({
  sort: queryChoice(sorts)
    .optional()
    .meta({ description: 'By `dateAdded` ascending or descending, or by title; default: `oldest`, and the best match first where `q` is given' }),
  include,
  limit: queryInteger({ min: 1, max: maxPage }).meta({ description: 'A page of the list; `Link` leads to the next one. Default: all of it' }),
});

const Counted = Count.meta({ description: 'How many bookmarks' });
const FolderCount = z
  .object({ id: Id('The id of the folder'), count: Counted.meta({ description: 'How many are directly in it' }) })
  .meta({ id: 'FolderCount', description: 'A folder and how many bookmarks it holds' });
const TagCount = z
  .object({ name: z.string().meta({ description: 'The tag' }), count: Counted.meta({ description: 'How many have it' }) })
  .meta({ id: 'TagCount', description: 'A tag and how many bookmarks have it' });
export const Counts = z
  .object({
    total: Counted.meta({ description: 'How many bookmarks there are' }),
    favorites: Counted.meta({ description: 'How many are favorites' }),
    untagged: Counted.meta({ description: 'How many have no tag' }),
    withoutFolder: Counted.meta({ description: 'How many are in no folder' }),
    dead: Counted.meta({ description: 'How many have a page that is gone' }),
    folders: z.array(FolderCount).meta({ description: 'All folders, in the order in which they were added' }),
    tags: z.array(TagCount).meta({ description: 'All tags, sorted' }),
  })
  .meta({
    id: 'BookmarkCounts',
    description: 'How many bookmarks there are, by folder and by tag',
    examples: [{ total: 312, favorites: 12, untagged: 40, withoutFolder: 7, dead: 3, folders: [], tags: [{ name: 'maps', count: 9 }] }],
  });
export type Counts = z.output<typeof Counts>;

const DuplicateGroup = z
  .object({
    count: Counted.meta({ description: 'How many bookmarks the page has' }),
    bookmarks: z.array(Bookmark).meta({ description: 'The first 20 of them, the oldest first' }),
  })
  .meta({ id: 'DuplicateGroup', description: 'Bookmarks of one page' });
export const Duplicates = z
  .object({
    items: z.array(DuplicateGroup).meta({ description: 'Pages that have several bookmarks, in a fixed order' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'The `after` of the next page; null on the last one', examples: [null] }),
  })
  .meta({ id: 'Duplicates', description: 'A page of the pages that have several bookmarks' });
export type Duplicates = z.output<typeof Duplicates>;

export const ImportQuery = z.object({
  dryRun: flag.meta({ description: 'Whether to report what would be imported without storing it; default: false' }),
  private: queryChoice(['exclude', 'include'])
    .default('exclude')
    .meta({ description: 'Whether bookmarks that the file marks as private are imported into a catalogue that everybody may read; default: exclude' }),
});
const UnstoredBookmark = z
  .object({
    index: Count.meta({ description: 'The position among the bookmarks of the file, from 0' }),
    title: z.string().meta({ description: 'The title of the bookmark' }),
    reason: z.string().meta({ description: 'Why the bookmark was not stored' }),
  })
  .meta({ id: 'UnstoredBookmark', description: 'A bookmark of an import that is not stored' });
export const ImportResult = z
  .object({
    created: Count.meta({ description: 'How many bookmarks were stored' }),
    skipped: Count.meta({ description: 'How many were left out: their address is in the same folder already, or `leftOut` has them' }),
    failed: z.array(UnstoredBookmark).meta({ description: 'The bookmarks that could not be stored' }),
    leftOut: z.array(UnstoredBookmark).meta({ description: 'The first 10000 bookmarks of `skipped` that are not in the catalogue' }),
  })
  .meta({
    id: 'ImportResult',
    description: 'The outcome of an import: what was stored, left out and refused',
    examples: [
      {
        created: 312,
        skipped: 4,
        failed: [{ index: 17, title: 'Home', reason: 'url must be an absolute http or https URL' }],
        leftOut: [{ index: 3, title: 'Most Visited', reason: 'place: is an address of the browser' }],
      },
    ],
  });
export type ImportResult = z.output<typeof ImportResult>;

export const Problems = problems({
  bookmarkMissing: { status: 404, title: 'No such bookmark' },
  folderMissing: { status: 404, title: 'No such folder' },
  tagMissing: { status: 404, title: 'No such tag' },
  changeMissing: { status: 404, title: 'No such change, or it was taken back already' },
  folderNotEmpty: { status: 409, title: 'The folder is not empty' },
  notBookmarks: { status: 400, title: 'The file is not usable as Netscape bookmark HTML' },
});
