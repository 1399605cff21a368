// Import and export as files that browsers write and read: the routes.
import { z } from 'zod';
import { answer, Content, route, streamedBody } from '../../platform/http/route.ts';
import { ImportQuery, ImportResult, Problems } from '../contract.ts';
import type { OpenSnapshot } from '../lists/store.ts';
import { exportAll } from './export.ts';
import type { Importer } from './import.ts';
import { declaredCharset, textOf } from './charset.ts';

const BookmarkFile = z.string().meta({
  description: 'Netscape bookmark HTML',
  examples: [
    '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<DL><p>\n<DT><A HREF="https://maps.example/shannon" TAGS="maps,rivers">Flood maps of the Shannon</A>\n</DL><p>\n',
  ],
});

const maxImportBytes = 256 * 1_048_576;

export const fileRoutes = (importAll: Importer, openSnapshot: OpenSnapshot) => [
  route({
    method: 'post',
    path: '/api/import',
    operationId: 'importBookmarks',
    summary: 'Takes Netscape bookmark HTML, as browsers export it; what is in the same folder already is skipped',
    description:
      'Folders, tags, dates, descriptions and favorites are kept. The text is decoded as its byte order mark says, else as its Content-Type or META element does, else as UTF-8; what is not even that is answered 415. Private bookmarks and addresses of the browser itself are left out, and named. Every bookmark of the file is created, skipped or failed. An interrupted import keeps what it has stored, and a repeat goes on from there.',
    query: ImportQuery,
    // A misspelt dryRun would import.
    isQueryClosed: true,
    body: streamedBody({ mediaTypes: ['text/html'], maxBytes: maxImportBytes }),
    describedBody: { 'text/html': BookmarkFile },
    answers: { 200: ImportResult },
    problems: [Problems.notBookmarks],
    handle: ({ query, body, headers }) =>
      importAll(textOf(body.bytes, declaredCharset(headers['content-type']), { isStrict: true }), {
        isDryRun: query.dryRun,
        withPrivate: query.private === 'include',
      }),
  }),
  route({
    method: 'get',
    path: '/api/export',
    describedAnswerHeaders: { 200: { 'Content-Disposition': 'An attachment named bookmarks.html' } },
    operationId: 'exportBookmarks',
    access: 'open',
    isQueryClosed: true,
    summary: 'All of it as Netscape bookmark HTML, which browsers take',
    description: 'The file is written from one snapshot. An import of it restores folders, tags, dates, descriptions and favorites.',
    answers: { 200: BookmarkFile },
    describedContent: { 'text/html': BookmarkFile },
    async handle({ clientAddress }) {
      const { text } = await openSnapshot(clientAddress(), exportAll);
      return answer(200, new Content('text/html; charset=utf-8', text), { 'Content-Disposition': 'attachment; filename="bookmarks.html"' });
    },
  }),
];
