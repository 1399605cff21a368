// The newest bookmarks of a tag, folder or search as an Atom feed, RFC 4287.
import { hash } from 'node:crypto';
import { Feed } from 'feed';
import { z } from 'zod';
import { answer, Content, route } from '../../platform/http/route.ts';
import { BookmarkFilterQuery } from '../contract.ts';
import { conditional, hasFewTerms, revisionTag, tooManyTerms, unlessKnown } from './lists.ts';
import type { BookmarkFilter, FoundBookmark, ListStore } from './store.ts';

const entries = 50;

const AtomFeed = z.string().meta({
  description: 'An Atom feed',
  examples: ['<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n    <id>urn:signalbox:bookmarks</id>\n</feed>'],
});

export const feedRoute = (store: ListStore) =>
  route({
    method: 'get',
    path: '/api/feed',
    operationId: 'readFeed',
    access: 'open',
    summary: 'The 50 newest bookmarks as an Atom feed, of a tag, a folder or a search if wanted',
    description: 'It takes the filters of the list of bookmarks. A reader that sends the `ETag` of the answer before gets 304 while nothing has changed.',
    query: BookmarkFilterQuery.refine(hasFewTerms, tooManyTerms),
    repeatable: ['tag'],
    answers: { 200: AtomFeed, 304: null },
    describedContent: { 'application/atom+xml': AtomFeed },
    ...conditional,
    handle: ({ query, headers }) =>
      unlessKnown(store, headers, async () => {
        const { revision, rows } = await store.bookmarks(query, { order: 'newest', after: undefined, rows: entries });
        return answer(200, new Content('application/atom+xml; charset=utf-8', atomOf(query, rows)), { ETag: revisionTag(revision) });
      }),
  });

function atomOf(filter: BookmarkFilter, bookmarks: readonly FoundBookmark[]): string {
  const wanted = [filter.q, ...(filter.tag ?? []).map((tag) => `#${tag}`)].filter((text) => text !== undefined);
  const feed = new Feed({
    title: xmlText(['Bookmarks', ...wanted].join(' ')),
    // It depends on the filter alone, so that the feed is the same behind every host name.
    id: `urn:signalbox:bookmarks:${hash('sha256', JSON.stringify(filter), 'hex').slice(0, 32)}`,
    // Atom requires a time; that of an empty feed never changes.
    updated: bookmarks[0]?.dateAdded ?? new Date(0),
    generator: 'Signalbox',
    author: { name: 'Signalbox' },
  });
  for (const { id, title, url, description, tags, dateAdded } of bookmarks)
    feed.addItem({
      id: `urn:uuid:${id}`,
      title: htmlText(title),
      link: xmlText(url),
      date: dateAdded,
      published: dateAdded,
      ...(description !== '' && { description: htmlText(description) }),
      // The library does not escape `<` in an attribute, where XML forbids it.
      category: tags.filter((tag) => !tag.includes('<')).map((tag) => ({ name: xmlText(tag), term: xmlText(tag) })),
    });
  return feed.atom1();
}

/** Replaces characters that XML 1.0 forbids: a reader rejects the whole feed for one of them. */
const xmlText = (text: string) => text.replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd');

const references: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** The library declares titles and descriptions as HTML. */
const htmlText = (text: string) => xmlText(text).replaceAll(/[&<>]/g, (character) => references[character] ?? character);
