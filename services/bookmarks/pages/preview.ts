// Previews a bookmark before it is added: the facts of its page, and the bookmarks that the page has already.
import { z } from 'zod';
import { route } from '../../platform/http/route.ts';
import { Bookmark, bookmarkMembers } from '../contract.ts';
import { bookmarkOf } from '../lists/lists.ts';
import type { ListStore } from '../lists/store.ts';
import type { Pages } from './pages.ts';

const mostExisting = 20;

const PageToPreview = z
  .object({ url: bookmarkMembers.url })
  .meta({ id: 'PageToPreview', description: 'A page that may be bookmarked', examples: [{ url: 'https://maps.example/shannon' }] });
const BookmarkPreview = z
  .object({
    title: z.string().meta({ description: 'The title of the page; empty where it has none, or cannot be had' }),
    description: z.string().meta({ description: 'The description of the page; may be empty' }),
    thumbnail: z.string().meta({ description: 'The address of its picture; may be empty' }),
    existing: z
      .array(Bookmark)
      .meta({ description: `Bookmarks that the page has, whatever the spelling of its address: the first ${mostExisting}, the oldest first` }),
  })
  .meta({
    id: 'BookmarkPreview',
    description: 'The facts of a page, and its bookmarks',
    examples: [{ title: 'Flood maps of the Shannon', description: 'By year', thumbnail: '', existing: [] }],
  });

export const previewRoute = (pages: Pages, lists: Pick<ListStore, 'bookmarks'>) =>
  route({
    method: 'post',
    path: '/api/bookmarks/preview',
    operationId: 'previewBookmark',
    summary: 'The title, description and picture of a page, and the bookmarks that it has already; adds none',
    description: 'The page is asked as for `fetch=true`: within 5 s and 2 MiB, at public addresses only.',
    body: PageToPreview,
    answers: { 200: BookmarkPreview },
    async handle({ body: { url } }) {
      const [{ title, description, picture }, { rows }] = await Promise.all([
        pages.facts(url),
        lists.bookmarks({ url }, { order: 'oldest', after: undefined, rows: mostExisting }),
      ]);
      return { title, description, thumbnail: picture, existing: rows.map(bookmarkOf) };
    },
  });
