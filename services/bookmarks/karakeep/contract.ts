// The schemas of the part of Karakeep's REST API that floccus uses: https://docs.karakeep.app/api, floccus' src/lib/adapters/Karakeep.ts.
// A list of Karakeep is a folder here.
import { z } from 'zod';
import { isStorable } from '../../platform/json.ts';
import { TimestampInput } from '../../platform/schema.ts';
import { asId, BookmarkInput, bookmarkMembers } from '../contract.ts';
import { cursor } from '../lists/order.ts';

const anyId = z.string().transform(asId);
const List = anyId.meta({ description: 'The id of the list, which is a folder' });
const BookmarkId = anyId.meta({ description: 'The id of the bookmark' });

export const ByList = z.object({ listId: List });
export const ByBookmark = z.object({ bookmarkId: BookmarkId });
export const ByBoth = z.object({ listId: List, bookmarkId: BookmarkId });

/** Longer titles and names are cut, and blank names replaced, since one refusal would end the whole sync. */
const Title = z
  .string()
  .refine(isStorable, { error: 'must be Unicode text without NUL characters' })
  .transform((title) => [...title.trim()].slice(0, 500).join('').trim())
  .nullish()
  .meta({ description: 'The title; a blank one is replaced by the address' });

/** Refused where it says something: an answer of 2xx would hide that it is lost. */
const noPlace = (error: string) => z.literal(['', null], { error }).optional().meta({ description: 'Has no place here, so at most blank' });
const noteInstead = noPlace('has no place here: `note` has');

/** Members of a link besides its address; an omitted one stays, or has its default. */
const linkMembers = {
  title: Title,
  favourited: z.exactOptional(z.boolean()).meta({ description: 'Whether it is a favorite' }),
  note: z.exactOptional(bookmarkMembers.description).meta({ description: 'The description of the bookmark' }),
  createdAt: z.exactOptional(TimestampInput).meta({ description: 'When it was added; default: now' }),
  archived: z.exactOptional(z.literal(false, { error: 'must be false: there is no archive' })).meta({ description: 'At most false: there is no archive' }),
  summary: noteInstead,
};

export const NewLink = z
  .object({ url: BookmarkInput.shape.url, ...linkMembers })
  .meta({ id: 'KarakeepNewLink', description: 'A link to add', examples: [{ type: 'link', url: 'https://maps.example/shannon', title: 'Flood maps' }] });
export const LinkPatch = z
  .object({
    url: z.exactOptional(BookmarkInput.shape.url).meta({ description: 'The new address' }),
    ...linkMembers,
    description: noteInstead,
    author: noteInstead,
    publisher: noteInstead,
  })
  .meta({ id: 'KarakeepLinkPatch', description: 'Members of a link to change', examples: [{ title: 'Flood maps' }] });
export type LinkPatch = z.output<typeof LinkPatch>;

const parentId = anyId.nullish().meta({ description: 'The list that holds it, or null' });
const icon = z.string().max(200).nullish().meta({ description: 'A text that clients show as an icon' });
const Name = z
  .string()
  .refine(isStorable, { error: 'must be Unicode text without NUL characters' })
  .transform((name) => [...name.trim()].slice(0, 200).join('').trim() || '-')
  .meta({ description: 'The name of the list' });
/** A smart list would be an empty folder. */
const type = z.exactOptional(z.literal('manual')).meta({ description: 'Always manual' });
/** Members of a list that a folder does not have. */
const foreign = {
  description: noPlace('has no place here'),
  query: noPlace('has no place here'),
  public: z.exactOptional(z.literal(true, { error: 'must be true: everybody who reaches the service may read' })).meta({ description: 'At most true' }),
};
export const NewList = z
  .object({ name: Name, icon, parentId, type, ...foreign })
  .meta({ id: 'KarakeepNewList', description: 'A list to add', examples: [{ name: 'Floccus', icon: '📔', type: 'manual' }] });
export const ListPatch = z
  .object({ name: z.exactOptional(Name).meta({ description: 'The new name' }), icon, parentId, ...foreign })
  .meta({ id: 'KarakeepListPatch', description: 'Members of a list to change', examples: [{ name: 'Maps' }] });

export const ContentQuery = z.object({ includeContent: z.string().optional().meta({ description: 'Ignored: a link has no content here' }) });
export const PageQuery = z.object({ cursor: cursor.meta({ description: 'The `nextCursor` of the page before' }), ...ContentQuery.shape });

export const KarakeepList = z
  .object({
    id: z.string().meta({ description: 'The id of the folder' }),
    name: z.string().meta({ description: 'The name' }),
    icon: z.string().meta({ description: 'The icon; 📁 where there is none' }),
    parentId: z.string().nullable().meta({ description: 'The list that holds it, or null' }),
    type: z.literal('manual').meta({ description: 'Always manual' }),
    description: z.null().meta({ description: 'Always null' }),
    query: z.null().meta({ description: 'Always null' }),
    public: z.boolean().meta({ description: 'Always true: everybody who reaches the service may read' }),
  })
  .meta({ id: 'KarakeepList', description: 'A folder in the form of Karakeep' });
export const Lists = z
  .object({ lists: z.array(KarakeepList).meta({ description: 'The lists' }) })
  .meta({ id: 'KarakeepLists', description: 'Lists', examples: [{ lists: [] }] });

const LinkContent = z
  .object({
    type: z.literal('link').meta({ description: 'Always link' }),
    url: z.string().meta({ description: 'The address' }),
    title: z.string().meta({ description: 'The title' }),
  })
  .meta({ id: 'KarakeepLinkContent', description: 'The content of a link' });
export const Link = z
  .object({
    id: z.string().meta({ description: 'The id of the bookmark' }),
    createdAt: z.string().meta({ description: 'When it was added' }),
    title: z.string().meta({ description: 'The title' }),
    archived: z.boolean().meta({ description: 'Always false' }),
    favourited: z.boolean().meta({ description: 'Whether it is a favorite' }),
    note: z.string().nullable().meta({ description: 'The description of the bookmark, or null' }),
    tags: z.array(z.never()).meta({ description: 'Always empty: floccus has no tags' }),
    content: LinkContent,
    assets: z.array(z.never()).meta({ description: 'Always empty; clients count them' }),
  })
  .meta({ id: 'KarakeepLink', description: 'A bookmark in the form of Karakeep' });
export const CreatedLink = Link.extend({
  alreadyExists: z.boolean().meta({ description: 'Whether a bookmark of the same address, in no folder, was there already' }),
}).meta({ id: 'KarakeepCreatedLink', description: 'A bookmark that was added or found' });
export const LinkPage = z
  .object({
    bookmarks: z.array(Link).meta({ description: 'Bookmarks of the list' }),
    nextCursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last one' }),
  })
  .meta({ id: 'KarakeepLinkPage', description: 'The bookmarks of a list', examples: [{ bookmarks: [], nextCursor: null }] });
