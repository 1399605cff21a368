// Which declared route a request goes to; unknown paths are 404, known paths with another method 405.
import Router from '@koa/router';
import type { Context } from 'koa';
import type { AddressOf } from './client-address.ts';
import { sendAnswer } from './http-answer.ts';
import { readRequest } from './http-request.ts';
import { Common } from './problem.ts';
import type { AnyRoute } from './route.ts';

type Routing = { readonly addressOf?: AddressOf; readonly caseSensitivePaths?: boolean };

export function createRouter(routes: readonly AnyRoute[], { addressOf, caseSensitivePaths = true }: Routing): Router {
  const router = new Router({ sensitive: caseSensitivePaths, strict: false });
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
    router[route.method](path, async (context) => {
      context.state['route'] = route.path;
      const { request, release } = await readRequest(context, route, addressOf);
      try {
        sendAnswer(context, await route.handle(request));
      } finally {
        release();
      }
    });
  }
  return router;
}

/** Runs when no route did. RFC 9110 sections 15.5.5 and 15.5.6. */
export function refuseUnrouted(context: Context): void {
  const layers = (context['matched'] ?? []) as readonly { readonly methods: readonly string[] }[]; // set by the router
  const methods = [...new Set(layers.flatMap((layer) => layer.methods))];
  if (methods.length > 0) throw Common.methodNotAllowed({ headers: { Allow: methods.join(', ') } });
  throw Common.notFound();
}
