// Everything the bookmark catalogue says on the wire.
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
/** Null and an omitted one are the empty text. */
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
export const ById = z.object({ id: z.string().transform(asId).meta({ description: 'Its id' }) });

const isWebAddress = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);

/** By code points, which is not the order of UTF-16. */
const byCodePoints = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const maxTags = 100;
const Tags = z
  .array(trimmed({ max: 100 }), { error: 'must be an array' })
  .nullish()
  .transform((tags) => [...new Set(tags ?? [])].filter((tag) => tag !== '').sort(byCodePoints))
  .refine((tags) => tags.length <= maxTags, { error: `must hold at most ${maxTags} tags` });

export const Bookmark = z
  .object({
    id: z.string(),
    title: z.string(),
    url: z.string(),
    description: z.string(),
    thumbnail: z.string(),
    tags: z.array(z.string()),
    folderId: z.string().nullable(),
    favorite: z.boolean(),
    dateAdded: Timestamp,
  })
  .meta({
    id: 'Bookmark',
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

/** What is omitted has its default, on PUT too. */
export const BookmarkInput = z
  .object({
    title: trimmed({ min: 1, max: 500 }),
    url: trimmed({ min: 1, max: 2048 }).refine(isWebAddress, { error: 'must be an absolute http or https URL' }),
    description: optionalText(10_000),
    thumbnail: optionalText(8192),
    tags: Tags,
    folderId: Reference,
    favorite: z
      .boolean({ error: 'must be true or false' })
      .nullish()
      .transform((value) => value ?? false),
  })
  .meta({ id: 'BookmarkInput', examples: [{ title: 'Flood maps of the Shannon', url: 'https://maps.example/shannon', tags: ['maps', 'rivers'] }] });
export type BookmarkInput = z.output<typeof BookmarkInput>;

export const Folder = z
  .object({ id: z.string(), name: z.string(), parentId: z.string().nullable(), icon: z.string().nullable() })
  .meta({ id: 'Folder', examples: [{ id: '019b76da-a800-7000-8000-5f3c1e2d4a6b', name: 'Maps', parentId: null, icon: null }] });
export type Folder = z.output<typeof Folder>;

export const FolderInput = z
  .object({
    name: trimmed({ min: 1, max: 200 }),
    parentId: Reference,
    icon: trimmed({ max: 200 })
      .nullish()
      .transform((icon) => (icon === undefined || icon === '' ? null : icon)),
  })
  .meta({ id: 'FolderInput', examples: [{ name: 'Maps' }] });
export type FolderInput = z.output<typeof FolderInput>;

const flag = queryBoolean.default(false);
export const FolderDeletion = z.object({ cascade: flag.meta({ description: 'Whether a folder that holds something is deleted too' }) });

/** Blank is none. What cannot be stored is in no bookmark; it is looked for as it would have been stored. */
const searched = (max: number) =>
  text({ max })
    .transform((value) => storable(value.trim()) || undefined)
    .optional();
export const maxPage = 1000;
export const BookmarkFilterQuery = z.object({
  q: searched(200).meta({ description: 'All of its words, or parts of words, are in title, URL, description or tags; the best match comes first' }),
  tag: searched(100).meta({ description: 'Those with this tag' }),
  folderId: z.string().transform(asId).optional().meta({ description: 'Those directly in this folder' }),
  favorite: queryBoolean.optional().meta({ description: 'Only favorites, or only the others' }),
  limit: queryInteger({ min: 1, max: maxPage }).meta({ description: 'A page of the list; `Link` leads to the next one. Default: all of it' }),
});

export const ImportQuery = z.object({ dryRun: flag.meta({ description: 'Only tells what would be done' }) });
export const ImportResult = z
  .object({
    created: Count,
    /** Those whose address is in the same folder already. */
    skipped: Count,
    /** By their place among the bookmarks of the file, from 0. */
    failed: z.array(z.object({ index: Count, title: z.string(), reason: z.string() })),
  })
  .meta({
    id: 'ImportResult',
    examples: [{ created: 312, skipped: 4, failed: [{ index: 17, title: 'Home', reason: 'url must be an absolute http or https URL' }] }],
  });
export type ImportResult = z.output<typeof ImportResult>;

export const Problems = problems({
  bookmarkMissing: { status: 404, title: 'No such bookmark' },
  folderMissing: { status: 404, title: 'No such folder' },
  folderNotEmpty: { status: 409, title: 'The folder is not empty' },
  notBookmarks: { status: 400, title: 'The file is not usable as Netscape bookmark HTML' },
});
