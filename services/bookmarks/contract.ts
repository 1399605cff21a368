// The bookmark catalogue's schemas and problems.
import { z } from 'zod';
import { isStorable, storable } from '../platform/json.ts';
import { problems } from '../platform/problem.ts';
import { Count, isGuid, queryBoolean, queryInteger, text, Timestamp } from '../platform/schema.ts';

const stored = (limits: { readonly min?: number; readonly max: number }) =>
  text(limits).refine(isStorable, { error: 'must be Unicode text without NUL characters' });
const trimmed = (limits: { readonly min?: number; readonly max: number }) =>
  z
    .string({ error: 'must be a string' })
    .trim()
    .pipe(stored(limits))
    .meta({ override: { minLength: limits.min ?? 0, maxLength: limits.max } });
/** Null and an omitted text become the empty text. */
const optionalText = (max: number) =>
  stored({ max })
    .nullish()
    .transform((value) => value ?? '');

/** No bookmark or folder has it: a text that is no id names nothing. */
const idOfNothing = '00000000-0000-0000-0000-000000000000';
/** In any case, as every other service takes them. */
const asId = (value: string) => (isGuid(value) ? value.toLowerCase() : idOfNothing);
const Reference = z
  .string({ error: 'must be a string' })
  .transform(asId)
  .nullish()
  .transform((id) => id ?? null);
export const ById = z.object({ id: z.string().transform(asId).meta({ description: 'The id of the bookmark or folder' }) });

const isWebAddress = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);

/** Compares code points; JavaScript's own order compares UTF-16 units. */
const byCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const Id = (description: string) => z.string().meta({ override: { format: 'uuid' }, description });
const maxTags = 100;
const Tags = z
  .array(trimmed({ max: 100 }), { error: 'must be an array' })
  .nullish()
  .transform((tags) => [...new Set(tags ?? [])].filter((tag) => tag !== '').sort(byCodePoints))
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

/** Omitted members have their defaults, on PUT too. */
export const BookmarkInput = z
  .object({
    title: trimmed({ min: 1, max: 500 }).meta({ description: 'The title; white space around it is dropped' }),
    url: trimmed({ min: 1, max: 2048 })
      .refine(isWebAddress, { error: 'must be an absolute http or https URL' })
      .meta({ override: { format: 'uri', pattern: '^\\s*[hH][tT][tT][pP][sS]?://' }, description: 'An absolute http or https address' }),
    description: optionalText(10_000).meta({ description: 'A text about the page; default: the empty text' }),
    thumbnail: optionalText(8192).meta({ description: 'The address of a picture; default: the empty text' }),
    tags: Tags.meta({ description: `At most ${maxTags} tags; blank ones and repeats are dropped. Default: none` }),
    folderId: Reference.meta({ description: 'The id of an existing folder; default: no folder' }),
    favorite: z
      .boolean({ error: 'must be true or false' })
      .nullish()
      .transform((value) => value ?? false)
      .meta({ description: 'Whether the bookmark is a favorite; default: false' }),
  })
  .meta({
    id: 'BookmarkInput',
    description: 'A bookmark as it is stored; an omitted member has its default, on PUT too',
    examples: [{ title: 'Flood maps of the Shannon', url: 'https://maps.example/shannon', tags: ['maps', 'rivers'] }],
  });
export type BookmarkInput = z.output<typeof BookmarkInput>;

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

export const FolderInput = z
  .object({
    name: trimmed({ min: 1, max: 200 }).meta({ description: 'The name; white space around it is dropped' }),
    parentId: Reference.meta({ description: 'The id of an existing folder; default: the top' }),
    icon: trimmed({ max: 200 })
      .nullish()
      .transform((icon) => (icon === undefined || icon === '' ? null : icon))
      .meta({ description: 'A free text that clients show as an icon; a blank one is stored as null' }),
  })
  .meta({ id: 'FolderInput', description: 'A folder as it is stored; an omitted member has its default, on PUT too', examples: [{ name: 'Maps' }] });
export type FolderInput = z.output<typeof FolderInput>;

const flag = queryBoolean.default(false);
export const FolderDeletion = z.object({
  cascade: flag.meta({ description: 'Whether a folder with bookmarks or subfolders is deleted as well; default: false' }),
});

/** A blank text counts as absent. Characters that cannot be stored are searched for as they would have been stored. */
const searched = (max: number) =>
  text({ max })
    .transform((value) => storable(value.trim()) || undefined)
    .optional();
export const maxPage = 1000;
export const BookmarkFilterQuery = z.object({
  q: searched(200).meta({
    description: 'Words or parts of words that are all in title, URL, description or tags, whatever the case and the accents; the best match comes first',
  }),
  tag: searched(100).meta({ description: 'Only bookmarks with this tag' }),
  folderId: z.string().transform(asId).optional().meta({ description: 'Only bookmarks directly in this folder' }),
  favorite: queryBoolean.optional().meta({ description: 'Only favorites, or only the others' }),
  limit: queryInteger({ min: 1, max: maxPage }).meta({ description: 'A page of the list; `Link` leads to the next one. Default: all of it' }),
});

export const ImportQuery = z.object({ dryRun: flag.meta({ description: 'Whether to report what would be imported without storing it; default: false' }) });
const FailedBookmark = z
  .object({
    index: Count.meta({ description: 'The position among the bookmarks of the file, from 0' }),
    title: z.string().meta({ description: 'The title of the bookmark' }),
    reason: z.string().meta({ description: 'Why the bookmark was not stored' }),
  })
  .meta({ id: 'FailedBookmark', description: 'A bookmark of an import that could not be stored' });
export const ImportResult = z
  .object({
    created: Count.meta({ description: 'How many bookmarks were stored' }),
    skipped: Count.meta({ description: 'How many were left out, since their address is in the same folder already' }),
    failed: z.array(FailedBookmark).meta({ description: 'The bookmarks that could not be stored' }),
  })
  .meta({
    id: 'ImportResult',
    description: 'What an import stored, left out and refused',
    examples: [{ created: 312, skipped: 4, failed: [{ index: 17, title: 'Home', reason: 'url must be an absolute http or https URL' }] }],
  });
export type ImportResult = z.output<typeof ImportResult>;

export const Problems = problems({
  bookmarkMissing: { status: 404, title: 'No such bookmark' },
  folderMissing: { status: 404, title: 'No such folder' },
  folderNotEmpty: { status: 409, title: 'The folder is not empty' },
  notBookmarks: { status: 400, title: 'The file is not usable as Netscape bookmark HTML' },
});
