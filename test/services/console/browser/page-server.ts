// A server with one page, the real assets and the real policy of pages, whose actions answer as a test says.
import { z } from 'zod';
import type { ComponentChildren } from '../../../../services/console/view/elements.ts';
import { assetRoutes } from '../../../../services/console/assets.ts';
import type { Frame } from '../../../../services/console/view/frame.ts';
import { renderPage } from '../../../../services/console/view/shell.ts';
import { createHealth } from '../../../../services/platform/health.ts';
import { createApp } from '../../../../services/platform/http/app.ts';
import { answer, Content, rawBody, route } from '../../../../services/platform/http/route.ts';
import { listen } from '../../../../services/platform/http/server.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { createMetrics } from '../../../../services/platform/metrics.ts';
import { Common } from '../../../../services/platform/problem.ts';

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export type Posted = { readonly path: string; readonly fields: URLSearchParams };

type Parts = {
  /** By the path and query of the request. */
  readonly frame: (query: URLSearchParams, path: string) => Frame;
  readonly body: (frame: Frame) => ComponentChildren;
  /** The answer to an action; throws to refuse it. */
  readonly act?: (posted: Posted) => Promise<object> | object;
  /** Server-sent events. */
  readonly stream?: () => string;
};

export async function servePage({ frame, body, act = () => ({ message: 'Done' }), stream = () => '' }: Parts) {
  const posted: Posted[] = [];
  const html = (query: URLSearchParams, path: string) => {
    const shown = frame(query, path);
    return answer(200, new Content('text/html; charset=utf-8', renderPage(shown, { title: 'Gallery', area: 'links', body: body(shown) })), {
      'Content-Security-Policy': policy,
    });
  };
  const app = createApp({
    description: { title: 'gallery', version: '1', summary: 'A page for tests.' },
    health: createHealth(),
    log: silentLog,
    metrics: createMetrics(),
    routes: [
      ...assetRoutes(),
      route({
        method: 'get',
        path: '/events/stream',
        access: 'open',
        summary: 'Events',
        answers: { 200: z.any() },
        handle: () => answer(200, new Content('text/event-stream', stream())),
      }),
      route({
        method: 'get',
        path: '/{+any}',
        access: 'open',
        summary: 'The page',
        params: z.object({ any: z.string() }),
        query: z.record(z.string(), z.string()),
        answers: { 200: z.any() },
        handle: ({ params, query }) => html(new URLSearchParams(query), `/${params.any}`),
      }),
      route({
        method: 'post',
        path: '/{+any}',
        access: 'open',
        summary: 'An action',
        params: z.object({ any: z.string() }),
        body: rawBody({ mediaTypes: ['application/x-www-form-urlencoded'], maxBytes: 65_536, timeoutMs: 5000 }),
        problems: [Common.unavailable],
        answers: { 200: z.any() },
        async handle({ params, body: bytes }) {
          const action = { path: `/${params.any}`, fields: new URLSearchParams(bytes.toString()) };
          posted.push(action);
          return new Content('application/json', JSON.stringify(await act(action)));
        },
      }),
    ],
  });
  const server = await listen(app.handler, { port: 0, host: '127.0.0.1' });
  return { url: `http://127.0.0.1:${server.port}`, posted, close: () => server.close() };
}
