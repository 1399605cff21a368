// Import and export as files that browsers write and read: the routes.
import { z } from 'zod';
import { answer, Content, route, streamedBody } from '../../platform/http/route.ts';
import { ImportQuery, ImportResult, Problems } from '../contract.ts';
import type { OpenSnapshot } from '../snapshots.ts';
import { exportAll } from './export.ts';
import type { Importer } from './import.ts';

const maxImportBytes = 256 * 1_048_576;

export const fileRoutes = (importAll: Importer, openSnapshot: OpenSnapshot) => [
  route({
    method: 'post',
    path: '/api/import',
    summary: 'Takes Netscape bookmark HTML, as browsers export it; what is in the same folder already is skipped',
    query: ImportQuery,
    body: streamedBody({ mediaTypes: ['text/html'], maxBytes: maxImportBytes }),
    answers: { 200: ImportResult },
    problems: [Problems.notBookmarks],
    handle: ({ query, body }) => importAll(body.bytes, query.dryRun),
  }),
  route({
    method: 'get',
    path: '/api/export',
    access: 'open',
    summary: 'All of it as Netscape bookmark HTML, which browsers take',
    answers: { 200: z.string() },
    describedMediaTypes: ['text/html'],
    async handle() {
      const { text } = await openSnapshot(exportAll);
      return answer(200, new Content('text/html; charset=utf-8', text), { 'Content-Disposition': 'attachment; filename="bookmarks.html"' });
    },
  }),
];
